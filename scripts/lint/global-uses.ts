/** Finds the uses of names that no scope of the file declares: the globals the file depends on. */
import { children, isNode, nodes, type SyntaxNode, stringOf } from './syntax.ts';

export interface GlobalUse {
  readonly name: string;
  /** As written: `Date.now`, `new Date()`, `new Date(…)`, `instanceof Date`, or the bare name. */
  readonly use: string;
  readonly start: number;
}

type Scope = ReadonlySet<string>;

export function globalUses(program: SyntaxNode): readonly GlobalUse[] {
  const uses: GlobalUse[] = [];
  visit(program, null, [], uses);
  return uses;
}

function visit(node: SyntaxNode, parent: SyntaxNode | null, scopes: readonly Scope[], uses: GlobalUse[]): void {
  if (isTypeOnly(node)) return;
  if (node.type === 'Identifier') {
    const name = String(node.name);
    if (isReference(node, parent) && !scopes.some((scope) => scope.has(name)))
      uses.push({ name, use: describe(name, node, parent), start: node.start });
    return;
  }
  const own = declaredBy(node);
  const inner = own.size > 0 ? [...scopes, own] : scopes;
  for (const child of children(node)) visit(child, node, inner, uses);
}

const wrappers = new Set([
  'TSAsExpression',
  'TSSatisfiesExpression',
  'TSNonNullExpression',
  'TSInstantiationExpression',
  'TSParameterProperty',
]);

/** Types are erased before the program runs. Only expressions wrapped in a type remain. */
function isTypeOnly(node: SyntaxNode): boolean {
  return node.type.startsWith('TS') && !wrappers.has(node.type);
}

/** An identifier can also be a property name, an imported name or a key. Those are not uses. */
function isReference(node: SyntaxNode, parent: SyntaxNode | null): boolean {
  if (parent === null) return true;
  switch (parent.type) {
    case 'MemberExpression':
      return parent.object === node || parent.computed === true;
    case 'Property':
    case 'MethodDefinition':
    case 'PropertyDefinition':
    case 'AccessorProperty':
      return parent.value === node || parent.computed === true;
    case 'ImportSpecifier':
    case 'ImportDefaultSpecifier':
    case 'ImportNamespaceSpecifier':
    case 'MetaProperty':
    case 'LabeledStatement':
    case 'BreakStatement':
    case 'ContinueStatement':
      return false;
    case 'ExportSpecifier':
      return parent.local === node;
    default:
      return true;
  }
}

function describe(name: string, node: SyntaxNode, parent: SyntaxNode | null): string {
  if (parent?.type === 'MemberExpression' && parent.object === node) {
    const { property } = parent;
    const member = parent.computed === true ? stringOf(property) : isNode(property) ? String(property.name) : null;
    return member === null ? name : `${name}.${member}`;
  }
  if (parent?.type === 'NewExpression' && parent.callee === node)
    return nodes(parent.arguments).length > 0 ? `new ${name}(…)` : `new ${name}()`;
  if (parent?.type === 'BinaryExpression' && parent.operator === 'instanceof' && parent.right === node)
    return `instanceof ${name}`;
  return name;
}

/** Names that a node declares for everything inside it. */
function declaredBy(node: SyntaxNode): Scope {
  const names = new Set<string>();
  if (/Function(Declaration|Expression)$|^ArrowFunctionExpression$/.test(node.type)) {
    for (const parameter of nodes(node.params)) bind(parameter, names);
    bind(node.id, names);
  } else if (node.type === 'CatchClause') bind(node.param, names);
  else if (node.type === 'ClassExpression') bind(node.id, names);
  else if (node.type === 'Program' || node.type === 'BlockStatement' || node.type === 'StaticBlock')
    for (const statement of nodes(node.body)) declare(statement, names);
  else if (node.type === 'SwitchStatement')
    for (const one of nodes(node.cases)) for (const statement of nodes(one.consequent)) declare(statement, names);
  else if (/^For(In|Of)?Statement$/.test(node.type)) {
    for (const head of [node.init, node.left]) if (isNode(head)) declare(head, names);
  }
  return names;
}

function declare(statement: SyntaxNode, names: Set<string>): void {
  switch (statement.type) {
    case 'VariableDeclaration':
      for (const one of nodes(statement.declarations)) bind(one.id, names);
      break;
    case 'FunctionDeclaration':
    case 'ClassDeclaration':
      bind(statement.id, names);
      break;
    case 'ImportDeclaration':
      for (const one of nodes(statement.specifiers)) bind(one.local, names);
      break;
    case 'ExportNamedDeclaration':
    case 'ExportDefaultDeclaration':
      if (isNode(statement.declaration)) declare(statement.declaration, names);
      break;
  }
}

function bind(pattern: unknown, names: Set<string>): void {
  if (!isNode(pattern)) return;
  switch (pattern.type) {
    case 'Identifier':
      names.add(String(pattern.name));
      break;
    case 'ObjectPattern':
      for (const one of nodes(pattern.properties)) bind(one.value ?? one, names);
      break;
    case 'ArrayPattern':
      for (const one of nodes(pattern.elements)) bind(one, names);
      break;
    case 'RestElement':
      bind(pattern.argument, names);
      break;
    case 'AssignmentPattern':
      bind(pattern.left, names);
      break;
    case 'TSParameterProperty':
      bind(pattern.parameter, names);
      break;
  }
}
