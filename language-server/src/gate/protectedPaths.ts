import { foldName } from '../foldName.ts';

/**
 * Files that decide what runs on a person's machine or what an agent is told: changing one is asked for every time.
 * Matched on each component of the real path relative to the project, as the most forgiving file system would.
 */

/** A folder or file of this name, anywhere, and everything below it. */
const names: readonly string[] = [
  '.git',
  '.hg',
  '.svn',
  '.jj',
  '.vscode',
  '.vscode-server',
  '.idea',
  '.fleet',
  '.zed',
  '.devcontainer',
  '.devcontainer.json',
  '.husky',
  '.githooks',
  '.circleci',
  '.buildkite',
  '.gitlab',
  '.gitlab-ci.yml',
  '.travis.yml',
  '.drone.yml',
  'appveyor.yml',
  'azure-pipelines.yml',
  'bitbucket-pipelines.yml',
  'jenkinsfile',
  '.pre-commit-config.yaml',
  'lefthook.yml',
  // Rules and configuration of agents.
  'agents.md',
  'agents.override.md',
  'claude.md',
  'claude.local.md',
  'gemini.md',
  'copilot-instructions.md',
  '.agent',
  '.agents',
  '.aider.conf.yml',
  '.amazonq',
  '.amp',
  '.augment',
  '.claude',
  '.cline',
  '.clinerules',
  '.codeium',
  '.codex',
  '.continue',
  '.copilot',
  '.crush',
  '.cursor',
  '.cursorignore',
  '.cursorrules',
  '.factory',
  '.gemini',
  '.goose',
  '.goosehints',
  '.junie',
  '.kilo',
  '.kilocode',
  '.kilocodemodes',
  '.kiro',
  '.opencode',
  'opencode.json',
  'opencode.jsonc',
  '.qwen',
  '.roo',
  '.roomodes',
  '.rooignore',
  '.rules',
  '.sallyport',
  '.tabnine',
  '.trae',
  '.windsurf',
  '.windsurfrules',
  '.mcp.json',
  'mcp.json',
  'mcp_settings.json',
  // What shells and tools run or read by themselves.
  '.bashrc',
  '.bash_profile',
  '.bash_login',
  '.bash_logout',
  '.bash_aliases',
  '.profile',
  '.zshrc',
  '.zshenv',
  '.zprofile',
  '.zlogin',
  '.zlogout',
  '.kshrc',
  '.cshrc',
  '.tcshrc',
  '.inputrc',
  '.envrc',
  '.direnv',
  '.ssh',
  '.gnupg',
  '.aws',
  '.docker',
  '.kube',
  '.netrc',
  '.npmrc',
  '.yarnrc',
  '.yarnrc.yml',
  '.pnpmfile.cjs',
  '.pypirc',
  '.gitconfig',
  '.gitmodules',
  '.gitattributes',
  '.gitignore_global',
  '.vimrc',
  '.exrc',
  '.nvim.lua',
  '.nvimrc',
  '.gdbinit',
  '.lldbinit',
  '.mise.toml',
  'mise.toml',
  '.tool-versions',
  '.node-version',
  'package.json',
  'sitecustomize.py',
  'usercustomize.py',
  'conftest.py',
  'pyvenv.cfg',
  'makefile',
  'justfile',
  'taskfile.yml',
  'rakefile',
  'gruntfile.js',
  'gulpfile.js',
  'build.rs',
  // Sallyport's own manifests.
  '_card.json',
  'app.json',
  'plugin.json',
  'sallyport.json',
];

/** Endings of a file's name. */
const endings: readonly string[] = [
  '.code-workspace',
  '.instructions.md',
  '.prompt.md',
  '.chatmode.md',
  '.agent.md',
  '.mdc',
  '.pth',
  '.desktop',
];

/** A folder and one below it: everything there. */
const pairs: readonly (readonly [string, string])[] = [
  ['.github', 'workflows'],
  ['.github', 'actions'],
  ['.github', 'hooks'],
  ['.github', 'prompts'],
  ['.github', 'instructions'],
  ['.github', 'agents'],
  ['.github', 'chatmodes'],
  ['.forgejo', 'workflows'],
  ['.gitea', 'workflows'],
  ['.config', 'git'],
];

const protectedNames: ReadonlySet<string> = new Set(names.map(foldName));
const protectedEndings = endings.map(foldName);
const protectedPairs = pairs.map(([outer, inner]) => [foldName(outer), foldName(inner)] as const);

/** True for a path (relative to the project, with `/`) that is protected. Anything that can't be judged is. */
export function isProtectedPath(relativePath: string): boolean {
  try {
    const parts = foldName(relativePath).split('/');
    return parts.some(
      (part, index) =>
        protectedNames.has(part) ||
        protectedEndings.some((ending) => part.endsWith(ending)) ||
        protectedPairs.some(([outer, inner]) => part === outer && parts[index + 1] === inner),
    );
  } catch {
    return true;
  }
}
