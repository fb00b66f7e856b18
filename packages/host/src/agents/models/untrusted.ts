/** Marks untrusted tool output wherever a model sees it, so that the model does not follow instructions in it. */

/** Escapes the tag inside the text, so that the text cannot close it. */
export const asUntrusted = (toolId: string, text: string): string =>
  `<UNTRUSTED tool="${toolId}">${text.replaceAll(/<(\/?)UNTRUSTED/gi, '&lt;$1UNTRUSTED')}</UNTRUSTED>`;
