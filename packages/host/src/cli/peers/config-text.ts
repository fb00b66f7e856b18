/** Changes one member of a JSON file and leaves every other character as the user wrote it. */
import type { Json } from '@cairn/protocol';

/** Sets a member of the outermost object. `text` must be a JSON object. A new member comes last. */
export function withMember(text: string, name: string, value: Json): string {
  const indent = /\n([ \t]+)"/.exec(text)?.[1] ?? '  ';
  const written = JSON.stringify(value, null, indent).replaceAll('\n', `\n${indent}`);
  const { members, end } = membersOf(text);
  const found = members.find((member) => member.name === name);
  if (found !== undefined) return text.slice(0, found.from) + written + text.slice(found.to);
  const last = members.at(-1);
  const added = `\n${indent}${JSON.stringify(name)}: ${written}`;
  if (last === undefined) return `${text.slice(0, end)}${added}\n${text.slice(end)}`;
  const rest = text.slice(last.to, end);
  return `${text.slice(0, last.to)},${added}${rest.includes('\n') ? rest : '\n'}${text.slice(end)}`;
}

interface Member {
  readonly name: string;
  /** Where its value begins and ends. */
  readonly from: number;
  readonly to: number;
}

/** Strings, and the characters that open, close or separate. */
const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g;

/** The members of the outermost object, and the place of its closing brace. */
function membersOf(text: string): { readonly members: readonly Member[]; readonly end: number } {
  const members: Member[] = [];
  let depth = 0;
  let name = '';
  let from = -1;
  const close = (at: number) => {
    if (from === -1) return;
    members.push({ name, from, to: from + text.slice(from, at).trimEnd().length });
    from = -1;
  };
  for (const { 0: found, index } of text.matchAll(token)) {
    if (depth === 1 && from === -1 && found.startsWith('"')) name = String(JSON.parse(found));
    else if (depth === 1 && found === ':') from = index + 1 + spaceAt(text, index + 1);
    else if (depth === 1 && found === ',') close(index);
    else if (found === '{' || found === '[') depth += 1;
    else if (found === '}' || found === ']') {
      if (depth === 1) {
        close(index);
        return { members, end: index };
      }
      depth -= 1;
    }
  }
  return { members, end: text.length };
}

const spaceAt = (text: string, at: number): number => /^\s*/.exec(text.slice(at, at + 1_000))?.[0].length ?? 0;
