/** Parses a source file for the checks: its imports, used globals, casts and interfaces, from its syntax tree. */
import { parseSync } from 'vite';
import { type Cast, castsIn } from './casts.ts';
import { type GlobalUse, globalUses } from './global-uses.ts';
import { type InterfaceShape, interfacesIn } from './interfaces.ts';
import { children, isNode, nodes, type SyntaxNode, stringOf, tree } from './syntax.ts';
import { filesOf, lineAt, textOf } from './tree.ts';

export interface ImportRef {
  /** Null when the specifier is computed and unknown before the program runs. */
  readonly specifier: string | null;
  /** The imported names. `*` for the module as a whole. */
  readonly names: readonly string[];
  readonly line: number;
}

export interface Source {
  readonly path: string;
  readonly lines: number;
  readonly imports: readonly ImportRef[];
  readonly globals: readonly (GlobalUse & { readonly line: number })[];
  readonly casts: readonly (Cast & { readonly line: number })[];
  readonly interfaces: readonly (InterfaceShape & { readonly line: number })[];
}

const sourceFile = /\.(ts|tsx|mts|mjs|js)$/;

/** Every source file under `root`, parsed. */
export function sourcesOf(root: string): readonly Source[] {
  return filesOf(root)
    .filter((path) => sourceFile.test(path))
    .map((path) => parseSource(path, textOf(root, path)));
}

/** @throws Error naming the file when it is not valid syntax: a file that cannot be read must not pass for clean. */
export function parseSource(path: string, text: string): Source {
  const parsed = parseSync(path, text);
  const fault = parsed.errors[0];
  if (fault !== undefined) throw new Error(`${path} does not parse: ${fault.message}`);
  const program = tree(parsed.program);
  const imports: ImportRef[] = [];
  collectImports(program, (node, specifier, names) => {
    imports.push({ specifier, names, line: lineAt(text, node.start) });
  });
  return {
    path,
    lines: text === '' ? 0 : text.split('\n').length - (text.endsWith('\n') ? 1 : 0),
    imports,
    globals: globalUses(program).map((use) => ({ ...use, line: lineAt(text, use.start) })),
    casts: castsIn(program).map((cast) => ({ ...cast, line: lineAt(text, cast.start) })),
    interfaces: interfacesIn(program).map((found) => ({ ...found, line: lineAt(text, found.start) })),
  };
}

type Found = (node: SyntaxNode, specifier: string | null, names: readonly string[]) => void;

function collectImports(node: SyntaxNode, found: Found): void {
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ExportNamedDeclaration':
    case 'ExportAllDeclaration':
      if (node.source !== null && node.source !== undefined) found(node, stringOf(node.source), namesOf(node));
      break;
    case 'ImportExpression':
    case 'TSImportType':
      found(node, stringOf(node.source), ['*']);
      break;
    case 'NewExpression':
      if (isModuleUrl(node)) found(node, stringOf(nodes(node.arguments)[0]), ['*']);
      break;
  }
  for (const child of children(node)) collectImports(child, found);
}

function namesOf(node: SyntaxNode): readonly string[] {
  if (!Array.isArray(node.specifiers)) return ['*'];
  return nodes(node.specifiers).map((specifier) => {
    const name = specifier.imported ?? specifier.local;
    const isWhole = specifier.type === 'ImportNamespaceSpecifier' || specifier.type === 'ImportDefaultSpecifier';
    return isWhole || !isNode(name) ? '*' : String(name.name ?? name.value);
  });
}

/** `new URL('./worker.ts', import.meta.url)` is how a thread names its module, so it counts as an import. */
function isModuleUrl(node: SyntaxNode): boolean {
  const [file, base] = nodes(node.arguments);
  if (!isNode(node.callee) || node.callee.name !== 'URL' || base?.type !== 'MemberExpression') return false;
  const isFromMeta = isNode(base.object) && base.object.type === 'MetaProperty';
  return isFromMeta && /^\.{1,2}\/.*\.(ts|tsx|mts|mjs|js)$/.test(stringOf(file) ?? '');
}
