/** Other people's words as a model is shown them: marked, wherever they are passed on, so that it takes no orders from them. */

/** They cannot close the mark themselves. */
export const asUntrusted = (toolId: string, text: string): string =>
  `<UNTRUSTED tool="${toolId}">${text.replaceAll(/<(\/?)UNTRUSTED/gi, '&lt;$1UNTRUSTED')}</UNTRUSTED>`;
