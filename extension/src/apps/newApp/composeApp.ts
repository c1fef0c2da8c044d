/** What a new app is made of, beside its page. */
export type AppParts = 'page' | 'plugin';
export type AppLanguage = 'javascript' | 'typescript';

export interface NewAppChoices {
  /** An id of an app (`idPattern`). */
  readonly id: string;
  /** The name that people see: any text. */
  readonly name: string;
  readonly parts: AppParts;
  /** Of the page. A plugin is JavaScript: it is frozen as it is written. */
  readonly language: AppLanguage;
}

/** The files of scripts/newApp by relative path with `/`: `LAYER/PATH`. */
export type AppTemplate = Readonly<Record<string, string>>;

/**
 * The files of a new app by relative path, `app.json` last: a folder that is half written is no app. The layers that fit
 * the choices are laid over each other.
 */
export function composeApp(template: AppTemplate, choices: NewAppChoices): ReadonlyMap<string, string> {
  const { parts, language } = choices;
  const files = new Map<string, string>();
  for (const layer of ['common', language, parts, `${parts}-${language}`])
    for (const [path, text] of Object.entries(template))
      if (path.startsWith(`${layer}/`)) {
        const name = path.slice(layer.length + 1);
        files.set(name, fillIn(name, text, choices));
      }
  const manifest = files.get('app.json');
  if (manifest === undefined) throw new Error(`The template has no app.json for ${parts}`);
  files.delete('app.json');
  return files.set('app.json', manifest);
}

/** An id that a name suggests: `My first app!` is `my-first-app`. Empty where nothing of it can be in an id. */
export function suggestId(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^[^a-z]+/, '')
    .slice(0, 64)
    .replace(/-+$/, '');
}

function fillIn(path: string, text: string, { id, name, language }: NewAppChoices): string {
  const isTyped = language === 'typescript';
  const values: Readonly<Record<string, string>> = {
    APP_ID: id,
    APP_NAME: escapeFor(path, name),
    APP_MAIN: isTyped ? 'main.ts' : 'main.js',
    APP_CONFIG: isTyped ? 'tsconfig.json' : 'jsconfig.json',
    APP_SCRIPT: isTyped ? 'type="module" src="main.ts"' : 'src="main.js" defer',
  };
  return text.replace(/APP_[A-Z]+/g, (key) => values[key] ?? key);
}

/** A name as text of the file that it is put into. */
function escapeFor(path: string, name: string): string {
  if (path.endsWith('.json')) return JSON.stringify(name).slice(1, -1);
  if (path.endsWith('.html')) return name.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);
  if (path.endsWith('.md')) return name.replace(/[\\`*_{}[\]()<>#+.!|~&-]/g, '\\$&');
  return name;
}
