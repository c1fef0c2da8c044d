import tseslint from 'typescript-eslint';
import importX from 'eslint-plugin-import-x';

/** The import table of docs/architecture.md: which other folders each one may import. */
const mayImport = {
  protocol: [],
  'remote-agent': ['protocol'],
  'sandbox-worker': ['protocol'],
  'language-server': ['protocol'],
  extension: ['protocol'],
  webviews: ['protocol'],
};
/** One judgement of addresses, and one way to make a connection to what was judged, for all who make requests. */
const network = ['egressAddresses.ts', 'egressDial.ts', 'egressRules.ts', 'webAddress.ts'].map(
  (name) => `./src/${name}`,
);
/** What other folders take of the runner's in place of a second copy. */
const sharedByRunner = {
  'language-server': [
    ...network,
    './src/files',
    './src/worker',
    // A folder is shared with a VM by the rules by which it is with a card, whoever is asked.
    './src/sharedFolder.ts',
    // What a VM that did not come up has started is found as what a card has.
    './src/processes.ts',
    ...['closedParent', 'identity', 'seatbelt', 'seccomp'].map((name) => `./src/isolation/${name}.ts`),
  ],
  // Vault values are put into requests, and taken out of answers, by the same code wherever that is done.
  extension: [
    ...network,
    // A vault and a worker's files are changed by one process at a time in one way.
    ...['folderLock', 'lockOwner'].map((name) => `./src/files/${name}.ts`),
    ...['inject', 'injection', 'answerHead', 'secureSocket'].map((name) => `./src/vault/${name}.ts`),
  ],
};
const folders = [...Object.keys(mayImport), 'test', 'test-fixtures', 'scripts'];
const zones = Object.entries(mayImport).flatMap(([folder, allowed]) =>
  folders
    .filter((from) => from !== folder && !allowed.includes(from))
    .map((from) => ({
      target: `./${folder}/src`,
      from: `./${from}`,
      except: (from === 'remote-agent' && sharedByRunner[folder]) || [],
    })),
);

const node = '^node:';
const npm = (names) => `^(?!\\.|node:|${names.join('|')})`;
function onlyPackages(folder, names, { allowNode }) {
  return {
    files: [`${folder}/src/**/*.{ts,tsx}`],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            ...(allowNode ? [] : [{ regex: node, message: `${folder}/ has no Node.` }]),
            { regex: npm(names), message: `${folder}/ may not import this package (docs/architecture.md).` },
            { regex: '^zod$', message: 'import zod/mini.' },
          ],
        },
      ],
    },
  };
}

/** Each risky call has one wrapper; the files that are that wrapper are named here. */
const riskyCalls = [
  {
    selector: "CallExpression[callee.property.name='registerCommand']",
    message: 'Use CommandRegistry (extension/src/commandRegistry.ts).',
  },
  { selector: "AssignmentExpression[left.property.name='innerHTML']", message: 'Use React or textContent.' },
  {
    selector: "MemberExpression[object.name='process'][property.name='env']",
    message: 'Read the environment in the environment.ts of this process.',
  },
  { selector: "CallExpression[callee.name='eval']", message: 'No eval.' },
  { selector: "NewExpression[callee.name='Function']", message: 'No Function constructor.' },
  { selector: 'ExportDefaultDeclaration', message: 'Named exports only.' },
  { selector: 'ExportAllDeclaration', message: 'No barrel files.' },
];

export default tseslint.config(
  // Apps, like test-fixtures: each is checked with its own tsconfig.json.
  {
    ignores: [
      'dist/**',
      'out/**',
      'node_modules/**',
      'test/artifacts/**',
      'test-fixtures/**',
      'scripts/newApp/**',
    ],
  },
  ...tseslint.configs.strictTypeChecked.map((config) => ({ ...config, files: ['**/*.{ts,tsx}'] })),
  {
    files: ['**/*.{ts,tsx}'],
    plugins: { 'import-x': importX },
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    settings: { 'import-x/resolver': { node: { extensions: ['.ts', '.tsx', '.js', '.mjs'] } } },
    rules: {
      'import-x/no-restricted-paths': ['error', { zones, basePath: import.meta.dirname }],
      'no-console': 'error',
      'no-restricted-syntax': ['error', ...riskyCalls],
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      '@typescript-eslint/no-confusing-void-expression': [
        'error',
        { ignoreArrowShorthand: true, ignoreVoidReturningFunctions: true },
      ],
      '@typescript-eslint/require-await': 'off',
    },
  },
  onlyPackages('protocol', ['zod/mini'], { allowNode: false }),
  onlyPackages('remote-agent', [], { allowNode: true }),
  onlyPackages('sandbox-worker', ['quickjs-emscripten', '@jitl/'], { allowNode: true }),
  onlyPackages(
    'language-server',
    [
      'vscode-languageserver',
      'vscode-jsonrpc',
      'jsonc-parser',
      'zod/mini',
      'just-bash',
      'ai$',
      '@ai-sdk/',
      'ollama-ai-provider-v2',
      'ssh2$',
      'simple-git$',
      'yauzl$',
      'parse5$',
      'esbuild-wasm/',
    ],
    { allowNode: true },
  ),
  onlyPackages('extension', ['vscode$', 'vscode-languageclient', '@simplewebauthn/server$', 'zod/mini'], {
    allowNode: true,
  }),
  onlyPackages(
    'webviews',
    [
      'react',
      'react-dom',
      '@xyflow/',
      '@dagrejs/',
      '@vscode/webview-ui-toolkit',
      'dompurify$',
      'markdown-it$',
      'vega',
      'plotly',
      'zod/mini',
    ],
    { allowNode: false },
  ),
  {
    files: ['extension/src/commandRegistry.ts', '**/environment.ts'],
    rules: { 'no-restricted-syntax': 'off' },
  },
  {
    files: ['webviews/src/**/*.tsx', 'webviews/src/**/*.ts'],
    ignores: ['webviews/src/ui/**'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            { regex: '^@vscode/webview-ui-toolkit', message: 'Only webviews/src/ui knows the toolkit.' },
            { regex: '^node:', message: 'webviews/ has no Node.' },
          ],
        },
      ],
    },
  },
  {
    files: ['test/**/*.ts', 'test/**/*.tsx'],
    rules: {
      'no-restricted-syntax': 'off',
      'no-console': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'error',
    },
  },
);
