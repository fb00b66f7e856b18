/** Finds where a source file overrides the type checker: `as` casts, double casts and non-null assertions. */
import { children, isNode, type SyntaxNode } from './syntax.ts';

export type CastKind = 'cast' | 'double-cast' | 'non-null';

export interface Cast {
  readonly kind: CastKind;
  readonly start: number;
}

/**
 * Returns every cast below `node`. `as const` does not count, since it widens nothing. `list[i] as number` does not
 * count either, since indexed access forces it.
 */
export function castsIn(node: SyntaxNode): readonly Cast[] {
  const found: Cast[] = [];
  collect(node, found);
  return found;
}

function collect(node: SyntaxNode, found: Cast[]): void {
  if (node.type === 'TSNonNullExpression') found.push({ kind: 'non-null', start: node.start });
  if (node.type === 'TSAsExpression' || node.type === 'TSTypeAssertion') {
    if (isDouble(node)) found.push({ kind: 'double-cast', start: node.start });
    if (!isConst(node) && !isIndexedNumber(node)) found.push({ kind: 'cast', start: node.start });
  }
  for (const child of children(node)) collect(child, found);
}

function isConst({ typeAnnotation }: SyntaxNode): boolean {
  if (!isNode(typeAnnotation) || typeAnnotation.type !== 'TSTypeReference') return false;
  return isNode(typeAnnotation.typeName) && typeAnnotation.typeName.name === 'const';
}

function isIndexedNumber({ typeAnnotation, expression }: SyntaxNode): boolean {
  if (!isNode(typeAnnotation) || typeAnnotation.type !== 'TSNumberKeyword') return false;
  return isNode(expression) && expression.type === 'MemberExpression' && expression.computed === true;
}

/** `x as unknown as T`: the checker cannot refuse it. */
function isDouble({ expression }: SyntaxNode): boolean {
  if (!isNode(expression) || expression.type !== 'TSAsExpression') return false;
  const { typeAnnotation } = expression;
  return isNode(typeAnnotation) && typeAnnotation.type === 'TSUnknownKeyword';
}
