/** The names that an expression reads, as far as they can be known without running it. */
import type { ASTNode } from '@marcbachmann/cel-js';

/** Each path begins with the root: `variables.order.id` is `['variables', 'order', 'id']`. */
export function readsOf(ast: ASTNode): readonly (readonly string[])[] {
  const reads: (readonly string[])[] = [];
  const pending: unknown[] = [ast];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (Array.isArray(node)) pending.push(...node);
    if (!isNode(node)) continue;
    // `has` asks whether a name exists.
    if (node.op === 'call' && node.args[0] === 'has') continue;
    const path = pathOf(node);
    if (path !== null) reads.push(path);
    else pending.push(node.args);
  }
  return reads;
}

const isNode = (value: unknown): value is ASTNode =>
  typeof value === 'object' && value !== null && 'op' in value && 'args' in value;

/** The names of `a.b["c"]`; null for any other node. */
function pathOf(node: ASTNode): readonly string[] | null {
  const names: string[] = [];
  let place: ASTNode = node;
  for (;;) {
    if (place.op === 'id') return names.length === 0 ? null : [place.args, ...names.reverse()];
    if (place.op === '.') names.push(place.args[1]);
    else if (place.op === '[]' && place.args[1].op === 'value' && typeof place.args[1].args === 'string') {
      names.push(place.args[1].args);
    } else return null;
    place = place.args[0];
  }
}
