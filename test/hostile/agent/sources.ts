import { join, relative, resolve, sep } from 'node:path';
import ts from 'typescript';
import { harmlessModules, harmlessNames, riskyGlobals, watchedFolders } from './effects.ts';

/** A use of something that acts: `file` is below language-server/src. */
export interface Use {
  readonly file: string;
  readonly from: string;
  readonly name: string;
}

const root = resolve(import.meta.dirname, '../../..');
const sources = join(root, 'language-server/src');

/** The engine's sources with their types. `extra` are files given as text, by path below language-server/src. */
export class Sources {
  readonly #program: ts.Program;
  readonly #checker: ts.TypeChecker;

  constructor(extra: Readonly<Record<string, string>> = {}) {
    const added = new Map(Object.entries(extra).map(([file, text]) => [join(sources, file), text]));
    const parsed = ts.getParsedCommandLineOfConfigFile(
      join(root, 'language-server/tsconfig.json'),
      { noEmit: true },
      { ...ts.sys, onUnRecoverableConfigFileDiagnostic: (problem) => fail(problem.messageText) },
    );
    if (!parsed) throw new Error('The engine has no configuration for the compiler');
    const host = ts.createCompilerHost(parsed.options, true);
    const disk = ts.createCompilerHost(parsed.options, true);
    host.readFile = (path) => added.get(path) ?? disk.readFile(path);
    host.fileExists = (path) => added.has(path) || disk.fileExists(path);
    this.#program = ts.createProgram([...parsed.fileNames, ...added.keys()], parsed.options, host);
    this.#checker = this.#program.getTypeChecker();
  }

  /** Everything risky that the watched folders import or find among the globals. */
  riskyUses(): Use[] {
    return this.#files()
      .filter(({ file }) => watchedFolders.some((folder) => file.startsWith(`${folder}/`)))
      .flatMap(({ file, source }) =>
        [...importsOf(source), ...this.#globalsOf(source)].map((use) => ({ file, ...use })),
      );
  }

  /**
   * The files of the whole engine in which a member of a class or an interface is named, or that import the function
   * of a module, whatever is done with it.
   */
  callersOf(member: string): string[] {
    const callers = new Set<string>();
    for (const { file, source } of this.#files())
      visit(source, (node) => {
        for (const symbol of [...this.#membersAt(node), ...this.#importedAt(node)])
          if (nameOf(symbol) === member) callers.add(file);
      });
    return [...callers].sort();
  }

  /** True where the engine declares it. */
  declares(member: string): boolean {
    return this.#files().some(({ source }) => {
      let found = false;
      visit(source, (node) => {
        if ('name' in node && memberName(node as ts.NamedDeclaration) === member) found = true;
      });
      return found;
    });
  }

  #files(): { file: string; source: ts.SourceFile }[] {
    return this.#program
      .getSourceFiles()
      .filter(({ fileName }) => resolve(fileName).startsWith(sources + sep))
      .map((source) => ({ file: relative(sources, source.fileName).split(sep).join('/'), source }));
  }

  /** `object.member`, `object['member']` and `const { member } = object`. */
  #membersAt(node: ts.Node): ts.Symbol[] {
    const checker = this.#checker;
    if (ts.isPropertyAccessExpression(node)) return known(checker.getSymbolAtLocation(node.name));
    if (ts.isElementAccessExpression(node) && ts.isStringLiteralLike(node.argumentExpression))
      return known(checker.getTypeAtLocation(node.expression).getProperty(node.argumentExpression.text));
    if (ts.isBindingElement(node) && ts.isObjectBindingPattern(node.parent)) {
      const name = node.propertyName ?? node.name;
      if (ts.isIdentifier(name)) return known(checker.getTypeAtLocation(node.parent).getProperty(name.text));
    }
    return [];
  }

  /** `import { name }` and `export { name } from`, as what is meant by it; `module.name` is a member that is named. */
  #importedAt(node: ts.Node): ts.Symbol[] {
    const isNamed =
      (ts.isImportSpecifier(node) && !node.isTypeOnly) ||
      (ts.isExportSpecifier(node) && node.parent.parent.moduleSpecifier !== undefined);
    if (!isNamed) return [];
    const symbol = this.#checker.getSymbolAtLocation(node.name);
    return known(
      symbol && symbol.flags & ts.SymbolFlags.Alias ? this.#checker.getAliasedSymbol(symbol) : symbol,
    );
  }

  #globalsOf(source: ts.SourceFile): Omit<Use, 'file'>[] {
    const found: Omit<Use, 'file'>[] = [];
    visit(source, (node) => {
      if (
        !ts.isIdentifier(node) ||
        !riskyGlobals.has(node.text) ||
        harmlessNames.has(memberOf(node)) ||
        isInType(node) ||
        ts.isTypeQueryNode(node.parent)
      )
        return;
      if (ts.isPropertyAccessExpression(node.parent) && node.parent.name === node) return;
      const symbol = ts.isShorthandPropertyAssignment(node.parent)
        ? this.#checker.getShorthandAssignmentValueSymbol(node.parent)
        : this.#checker.getSymbolAtLocation(node);
      const declared = symbol?.declarations ?? [];
      const isOwn = declared.some((each) => resolve(each.getSourceFile().fileName).startsWith(sources + sep));
      const isType = ts.isTypeReferenceNode(node.parent);
      if (!isOwn && !isType) found.push({ from: 'globals', name: memberOf(node) });
    });
    return found;
  }
}

function importsOf(source: ts.SourceFile): Omit<Use, 'file'>[] {
  const found: Omit<Use, 'file'>[] = [];
  visit(source, (node) => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) {
      if (node.moduleSpecifier && ts.isStringLiteral(node.moduleSpecifier))
        found.push(...namesOf(node, node.moduleSpecifier.text));
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const [module] = node.arguments;
      const from = module && ts.isStringLiteralLike(module) ? module.text : '(computed)';
      if (!from.startsWith('.') && !harmlessModules.has(from)) found.push({ from, name: 'import()' });
    }
  });
  return found;
}

function namesOf(node: ts.ImportDeclaration | ts.ExportDeclaration, from: string): Omit<Use, 'file'>[] {
  if (from.startsWith('.') || harmlessModules.has(from)) return [];
  if (ts.isExportDeclaration(node)) return [{ from, name: 'export' }];
  const clause = node.importClause;
  if (!clause) return [{ from, name: '(whole)' }];
  if (clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return [];
  const names: string[] = [];
  if (clause.name) names.push('(whole)');
  if (clause.namedBindings && ts.isNamespaceImport(clause.namedBindings)) names.push('(whole)');
  if (clause.namedBindings && ts.isNamedImports(clause.namedBindings))
    for (const each of clause.namedBindings.elements)
      if (!each.isTypeOnly) names.push((each.propertyName ?? each.name).text);
  return names
    .filter((name) => !(from === 'node:fs' && harmlessNames.has(name)))
    .map((name) => ({ from, name }));
}

function isInType(node: ts.Node): boolean {
  for (let at = node.parent; ts.isEntityName(at) || ts.isTypeQueryNode(at); at = at.parent)
    if (ts.isTypeQueryNode(at)) return true;
  return false;
}

/** `process.kill` for the `process` in it, so that looking at the platform is told from ending somebody. */
function memberOf(node: ts.Identifier): string {
  const { parent } = node;
  return ts.isPropertyAccessExpression(parent) ? `${node.text}.${parent.name.text}` : node.text;
}

function visit(node: ts.Node, look: (node: ts.Node) => void): void {
  look(node);
  ts.forEachChild(node, (child) => visit(child, look));
}

function known<T>(value: T | undefined): T[] {
  return value === undefined ? [] : [value];
}

function nameOf(symbol: ts.Symbol): string | undefined {
  const [declared] = symbol.declarations ?? [];
  return declared && memberName(declared);
}

function memberName(declared: ts.NamedDeclaration): string | undefined {
  const owner = declared.parent as ts.NamedDeclaration | undefined;
  if (ts.isFunctionDeclaration(declared) && ts.isSourceFile(declared.parent))
    return `${relative(sources, declared.parent.fileName).split(sep).join('/')}#${declared.name?.text ?? ''}`;
  if (!owner || !(ts.isClassDeclaration(owner) || ts.isInterfaceDeclaration(owner))) return undefined;
  if (!declared.name || !ts.isIdentifier(declared.name)) return undefined;
  return `${owner.name?.text ?? ''}.${declared.name.text}`;
}

function fail(message: string | ts.DiagnosticMessageChain): never {
  throw new Error(ts.flattenDiagnosticMessageText(message, '\n'));
}
