/** Marks untrusted tool output wherever a model sees it, so that the model does not follow instructions in it. */

/** The text inside the mark; null if there is no mark. The text stays untrusted. */
export function untrustedText(toolId: string, text: string): string | null {
  const begin = `<UNTRUSTED tool="${toolId}">`;
  const end = '</UNTRUSTED>';
  if (!text.startsWith(begin) || !text.endsWith(end)) return null;
  return text.slice(begin.length, -end.length).replaceAll(/&lt;(\/?)UNTRUSTED/gi, '<$1UNTRUSTED');
}

export const asUntrusted = (toolId: string, text: string): string =>
  `<UNTRUSTED tool="${toolId}">${escaped(text)}</UNTRUSTED>`;

/** Text of an agent of another system. */
export const asUntrustedAgent = (agentId: string, text: string): string =>
  `<UNTRUSTED agent="${agentId}">${escaped(text)}</UNTRUSTED>`;

/** Escapes the tag inside the text, so that the text cannot close it. */
const escaped = (text: string): string => text.replaceAll(/<(\/?)UNTRUSTED/gi, '&lt;$1UNTRUSTED');
