/** Marks untrusted tool output wherever a model sees it, so that the model does not follow instructions in it. */

/** The text that was marked; null if it was not. What it says is as untrusted as before. */
export function untrustedText(toolId: string, text: string): string | null {
  const begin = `<UNTRUSTED tool="${toolId}">`;
  const end = '</UNTRUSTED>';
  if (!text.startsWith(begin) || !text.endsWith(end)) return null;
  return text.slice(begin.length, -end.length).replaceAll(/&lt;(\/?)UNTRUSTED/gi, '<$1UNTRUSTED');
}

export const asUntrusted = (toolId: string, text: string): string =>
  `<UNTRUSTED tool="${toolId}">${escaped(text)}</UNTRUSTED>`;

/** What an agent of another system says. */
export const asUntrustedAgent = (agentId: string, text: string): string =>
  `<UNTRUSTED agent="${agentId}">${escaped(text)}</UNTRUSTED>`;

/** Escapes the tag inside the text, so that the text cannot close it. */
const escaped = (text: string): string => text.replaceAll(/<(\/?)UNTRUSTED/gi, '&lt;$1UNTRUSTED');
