import * as z from 'zod/mini';
import type { Tool } from './tool.ts';
import { about, defineTool } from './defineTool.ts';

/** A question of the model, and which conversation it belongs to. */
export interface PersonQuestion {
  readonly conversation: string | null;
  readonly question: string;
  readonly choices: readonly string[];
}

export interface PersonToolDeps {
  /** Puts a question in native UI. Null where the person turned away; rejects where `signal` aborts. */
  readonly ask: (question: PersonQuestion, signal: AbortSignal) => Promise<string | null>;
}

const askInput = z.strictObject({
  question: about('One question, in one or two sentences.', text(2000)),
  choices: about(
    'Answers to choose from, at most 8; empty where only the person’s own words will do.',
    z.array(text(200)).check(z.maxLength(8)),
  ),
});

/** `ask_person`: what an answer says changes nothing that the gate decides. */
export function createPersonTools({ ask }: PersonToolDeps): readonly Tool[] {
  return [
    defineTool({
      name: 'ask_person',
      description:
        'Asks the person one question and waits for the answer. Use it where what is wanted is not clear, never to get a permission: an answer gives none.',
      input: askInput,
      list: 'ordinary',
      effect: 'ask',
      async prepare({ question, choices }, { conversation }) {
        return {
          args: { question, choices },
          permissions: [],
          measure: async () => [],
          describe: () => ({
            title: 'Ask the person a question',
            lines: [question, ...choices],
            fullText: null,
          }),
          async run(signal) {
            const answer = await ask({ conversation, question, choices }, signal);
            if (answer !== null) return { text: `The person answered: ${answer}`, isError: false };
            return {
              text: 'The person did not answer. Go on without, or stop and say what is missing.',
              isError: false,
            };
          },
        };
      },
    }),
  ];
}

function text(length: number) {
  return z.string().check(z.minLength(1), z.maxLength(length));
}
