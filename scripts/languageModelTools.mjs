// Writes the tools that the manifest gives to VS Code's own agents, from the engine's catalogue. `--check` only compares.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { argv, exit, stderr } from 'node:process';
import { format, resolveConfig } from 'prettier';
import { createCatalog } from '../language-server/src/agent/catalog.ts';
import { createShellTools } from '../language-server/src/agent/shell/shellTools.ts';
import { createFileTools } from '../language-server/src/agent/tools/fileTools.ts';
import { createNetTools } from '../language-server/src/agent/tools/netTools.ts';
import { createPersonTools } from '../language-server/src/agent/tools/personTools.ts';
import { createRunTools } from '../language-server/src/agent/tools/runTools.ts';
import { createVaultTools } from '../language-server/src/agent/tools/vaultTools.ts';
import { toolPrefix, toolTag } from '../extension/src/agent/externalTools.ts';

/** Words of the tools for people. A tool without a name here fails. */
const displayNames = {
  list: 'List Files',
  read: 'Read File',
  search: 'Search',
  diagnostics: 'Problems',
  symbols: 'Symbols',
  edit: 'Edit File',
  create: 'Create File',
  rename: 'Rename File',
  delete: 'Delete',
  project_save: 'Save Card or Project',
  run_cards: 'Run Cards',
  run_status: 'Status of a Run',
  run_read: 'Read Results',
  shell: 'Shell (starts no program)',
  project_shell: 'Project Shell (sealed)',
  ask_person: 'Ask the Person',
  vault_names: 'Names in the Vault',
  vault_ask: 'Ask for a Vault Value',
  web_fetch: 'Fetch a Page',
  history_delete: 'Delete Undo History',
  cache_clear: 'Clear Results',
};

/** Stands for the services that tools use when they are called: here they are only described. */
const unused = new Proxy(() => undefined, { get: () => unused });

/** `contributes.languageModelTools`. Throws where a tool has no name for people. */
export function languageModelTools() {
  const factories = [
    createFileTools,
    createRunTools,
    createShellTools,
    createNetTools,
    createPersonTools,
    createVaultTools,
  ];
  return createCatalog(factories.flatMap((create) => create(unused))).descriptions.map(
    ({ name, description, inputSchema }) => {
      if (!(name in displayNames)) throw new Error(`${name} has no name for people`);
      const { $schema, ...schema } = inputSchema;
      return {
        name: toolPrefix + name,
        toolReferenceName: toolPrefix + name,
        displayName: `Sallyport: ${displayNames[name]}`,
        modelDescription: `${description} Passes Sallyport’s gate: a person may be asked first.`,
        userDescription: `${displayNames[name]}, through Sallyport’s gate.`,
        canBeReferencedInPrompt: true,
        tags: [toolTag],
        icon: '$(shield)',
        when: 'sallyport.hasProject && isWorkspaceTrusted',
        inputSchema: schema,
      };
    },
  );
}

if (import.meta.main) {
  const path = join(import.meta.dirname, '..', 'package.json');
  const before = await readFile(path, 'utf8');
  const manifest = JSON.parse(before);
  manifest.contributes.languageModelTools = languageModelTools();
  const options = { ...(await resolveConfig(path)), filepath: path };
  const after = await format(JSON.stringify(manifest, undefined, 2), options);
  if (after !== before && argv.includes('--check')) {
    stderr.write(
      'The tools in package.json are stale. Write them with: node scripts/languageModelTools.mjs\n',
    );
    exit(1);
  }
  if (after !== before) await writeFile(path, after);
}
