import type * as z from 'zod/mini';

/** What a schema refuses, for people: `permissions.root: there is no such key`. At most `most` of them. */
export function issueTexts(error: z.core.$ZodError, most = 5): string {
  return error.issues
    .slice(0, most)
    .map((issue) => {
      const place = issue.path.map(String).join('.');
      return place === '' ? textOf(issue) : `${place}: ${textOf(issue)}`;
    })
    .join('; ');
}

function textOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'unrecognized_keys':
      return `there is no such key: ${issue.keys.join(', ')}`;
    case 'invalid_type':
      return `it must be ${issue.expected === 'record' ? 'object' : issue.expected}`;
    case 'invalid_value':
      return `it must be ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}`;
    case 'too_small':
      return `it is too small or too short; at least ${String(issue.minimum)}`;
    case 'too_big':
      return `it is too large or too long; at most ${String(issue.maximum)}`;
    case 'invalid_format':
      return 'it does not have the form that is asked for';
    case 'invalid_key':
      return 'this key does not have the form that is asked for';
    default:
      return issue.message;
  }
}
