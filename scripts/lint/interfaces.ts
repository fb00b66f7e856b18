/** Finds the interfaces of a source file, and how many functions each declares. */
import { children, isNode, nodes, type SyntaxNode } from './syntax.ts';

export interface InterfaceShape {
  readonly name: string;
  readonly start: number;
  /** Methods, and members whose type is a function. Inherited ones do not count. */
  readonly functions: number;
}

export function interfacesIn(node: SyntaxNode): readonly InterfaceShape[] {
  if (node.type !== 'TSInterfaceDeclaration') return children(node).flatMap(interfacesIn);
  const { id, body, start } = node;
  const members = isNode(body) ? nodes(body.body) : [];
  return [{ name: isNode(id) ? String(id.name) : '', start, functions: members.filter(isFunction).length }];
}

function isFunction({ type, typeAnnotation }: SyntaxNode): boolean {
  if (type === 'TSMethodSignature') return true;
  if (type !== 'TSPropertySignature' || !isNode(typeAnnotation)) return false;
  return isNode(typeAnnotation.typeAnnotation) && typeAnnotation.typeAnnotation.type === 'TSFunctionType';
}
