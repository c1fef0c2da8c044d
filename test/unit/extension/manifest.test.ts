import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { cardFile, projectFile } from '../../../language-server/src/project/findCards.ts';
import { manifestLanguage } from '../../../protocol/src/manifestLanguage.ts';
import { commandIds, contextKeys, viewIds } from '../../../extension/src/commandIds.ts';
import { reportLanguage } from '../../../extension/src/documents/reports.ts';
import { workbenchType } from '../../../extension/src/panels/workbenchView.ts';
import { settingSchemas } from '../../../extension/src/settings.ts';
import { appViewTypes } from '../../../extension/src/appHost/appSlots.ts';

const root = join(import.meta.dirname, '../../..');
const command = z.object({ command: z.string(), title: z.string(), icon: z.optional(z.string()) });
const item = z.object({ command: z.string(), when: z.optional(z.string()) });
const manifestSchema = z.object({
  main: z.string(),
  icon: z.string(),
  extensionKind: z.array(z.string()),
  activationEvents: z.array(z.string()),
  engines: z.object({ vscode: z.string() }),
  capabilities: z.object({
    untrustedWorkspaces: z.object({ supported: z.string() }),
    virtualWorkspaces: z.object({ supported: z.boolean() }),
  }),
  contributes: z.object({
    commands: z.array(command),
    views: z.record(z.string(), z.array(z.object({ id: z.string(), icon: z.string() }))),
    viewsWelcome: z.array(z.object({ view: z.string(), contents: z.string(), when: z.string() })),
    menus: z.record(z.string(), z.array(item)),
    keybindings: z.array(z.extend(item, { args: z.optional(z.object({ commands: z.array(z.string()) })) })),
    configuration: z.object({
      properties: z.record(z.string(), z.object({ default: z.unknown(), scope: z.string() })),
    }),
    languages: z.array(
      z.object({
        id: z.string(),
        filenames: z.optional(z.array(z.string())),
        configuration: z.optional(z.string()),
        icon: z.optional(z.object({ light: z.string(), dark: z.string() })),
      }),
    ),
    grammars: z.array(z.object({ language: z.string(), scopeName: z.string(), path: z.string() })),
    configurationDefaults: z.record(z.string(), z.unknown()),
    walkthroughs: z.array(
      z.object({
        steps: z.array(
          z.object({ description: z.string(), media: z.object({ svg: z.string(), altText: z.string() }) }),
        ),
      }),
    ),
  }),
});
const texts = z
  .record(z.string(), z.string())
  .parse(JSON.parse(readFileSync(join(root, 'package.nls.json'), 'utf8')));
const raw: unknown = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const manifest = manifestSchema.parse(localized(raw));
const { contributes } = manifest;

describe('the manifest and the code', () => {
  it('name the same commands', () => {
    assert.deepEqual(contributes.commands.map((each) => each.command).sort(), [...commandIds].sort());
  });

  it('name the same views', () => {
    const ids = Object.values(contributes.views).flatMap((views) => views.map((view) => view.id));
    assert.deepEqual(ids.sort(), Object.values(viewIds).sort());
  });

  it('name the same settings with the same defaults, none of which a workspace can set', () => {
    const properties = Object.entries(contributes.configuration.properties);
    assert.deepEqual(
      properties.map(([name]) => name).sort(),
      Object.keys(settingSchemas)
        .map((name) => `sallyport.${name}`)
        .sort(),
    );
    for (const [name, property] of properties) {
      const schema = settingSchemas[name.replace('sallyport.', '') as keyof typeof settingSchemas];
      assert.deepEqual(schema.parse(undefined), property.default, name);
      assert.equal(property.scope, 'application', name);
    }
  });

  it('name the same language for the same two files', () => {
    const [language, report] = contributes.languages;
    assert.equal(contributes.languages.length, 2);
    assert.equal(language?.id, manifestLanguage);
    // No file is one: reports are in no file.
    assert.deepEqual([report?.id, report?.filenames], [reportLanguage, undefined]);
    assert.deepEqual(language.filenames, [projectFile, cardFile]);
    assert.deepEqual(
      contributes.grammars.map((each) => each.language),
      [manifestLanguage],
    );
    assert.deepEqual(Object.keys(contributes.configurationDefaults), [
      `[${manifestLanguage}]`,
      `[${reportLanguage}]`,
    ]);
  });

  it('name the same context keys', () => {
    const used = JSON.stringify(contributes).match(/sallyport\.(hasProject|running|engineStopped)\b/g) ?? [];
    assert.deepEqual([...new Set(used)].sort(), [...contextKeys].sort());
    const text = JSON.stringify([contributes.menus, contributes.viewsWelcome, contributes.keybindings]);
    const others = [...text.matchAll(/(?<![\w.:])sallyport\.\w+/g)].map(([name]) => name);
    const known = new Set<string>([
      ...commandIds,
      ...contextKeys,
      ...Object.values(viewIds),
      workbenchType,
      'sallyport.json',
    ]);
    for (const name of others) assert.ok(known.has(name), `${name} is neither command, view nor context key`);
  });

  it('use only commands that exist, in menus, keys, welcome texts and walkthrough', () => {
    const known = new Set<string>(commandIds);
    const keys = contributes.keybindings.flatMap((each) => each.args?.commands.slice(-1) ?? [each.command]);
    const named = [
      ...Object.values(contributes.menus)
        .flat()
        .map((each) => each.command),
      ...keys,
    ];
    const linked = [
      ...contributes.viewsWelcome.map((each) => each.contents),
      ...contributes.walkthroughs[0]!.steps.map((each) => each.description),
    ]
      .flatMap((text) => [...text.matchAll(/\(command:([\w.]+)\)/g)].map(([, id]) => id ?? ''))
      .filter((id) => id.startsWith('sallyport.'));
    for (const id of [...named, ...linked]) assert.ok(known.has(id), id);
  });

  it('register every command once', () => {
    const source = sources(join(root, 'extension/src'));
    for (const id of commandIds) {
      const places = source.filter((text) =>
        new RegExp(`\\.register\\(\\s*'${id.replace('.', '\\.')}'`).test(text),
      );
      assert.equal(places.length, 1, `${id} is registered in ${places.length} files`);
    }
  });
});

describe('the manifest', () => {
  it('has every text that a person reads in package.nls.json, and no other there', () => {
    const used = new Set([...JSON.stringify(raw).matchAll(/"%([^"%]+)%"/g)].map(([, key]) => key ?? ''));
    assert.deepEqual([...used].sort(), Object.keys(texts).sort());
    const literal = JSON.stringify(raw).match(
      /"(?:markdownDescription|contextualTitle|contents|altText)":"(?!%)[^"]*"/g,
    );
    assert.deepEqual(literal ?? [], []);
    const bare = manifestSchema.parse(raw).contributes.commands.filter(({ title }) => !title.startsWith('%'));
    assert.deepEqual(bare, []);
  });

  it('starts the extension only where a project is, or on its own views and commands', () => {
    assert.deepEqual(manifest.activationEvents, [
      'workspaceContains:sallyport.json',
      'onWebviewPanel:sallyport.canvas',
      'onWebviewPanel:sallyport.run',
      'onWebviewPanel:sallyport.workbenchEditor',
      ...appViewTypes.map((viewType) => `onWebviewPanel:${viewType}`),
    ]);
  });

  it('runs beside the workspace, looks without trust, and needs a disk', () => {
    assert.deepEqual(manifest.extensionKind, ['workspace']);
    assert.equal(manifest.capabilities.untrustedWorkspaces.supported, 'limited');
    assert.equal(manifest.capabilities.virtualWorkspaces.supported, false);
  });

  it('names files that exist', () => {
    const files = [
      manifest.icon,
      ...Object.values(contributes.views).flatMap((views) => views.map((view) => view.icon)),
      ...contributes.languages.flatMap(({ configuration, icon }) =>
        configuration && icon ? [configuration, icon.light, icon.dark] : [],
      ),
      ...contributes.grammars.map((each) => each.path),
      ...contributes.walkthroughs.flatMap((each) => each.steps.map((step) => step.media.svg)),
    ];
    for (const file of files) assert.ok(existsSync(join(root, file)), file);
  });

  it('gives every picture words and every command with a place in a title bar an icon', () => {
    for (const step of contributes.walkthroughs[0]!.steps) assert.ok(step.media.altText.length > 10);
    const icons = new Map(contributes.commands.map((each) => [each.command, each.icon]));
    for (const menu of ['view/title', 'view/item/context', 'editor/title'])
      for (const { command: id } of contributes.menus[menu] ?? []) assert.ok(icons.get(id), id);
  });
});

function sources(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
}

/** The manifest as VS Code reads it, each `%key%` replaced by its text. */
function localized(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (_key, each: unknown) => {
    const key = typeof each === 'string' ? /^%(.+)%$/.exec(each)?.[1] : undefined;
    return key === undefined ? each : (texts[key] ?? assert.fail(`package.nls.json has no ${key}`));
  });
}
