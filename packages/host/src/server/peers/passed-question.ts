/** A question of another host that people here are asked, and what they say: an answer, or that they do not answer. */
import { type CairnError, isCairnError, type Json } from '@cairn/protocol';
import type { HostQuestion, HostToolContext } from '../../agents/tools/tool.ts';

/** `refused`: the error that the refusal is for a caller that cannot pass it on. */
export type Said = { readonly answer: Json } | { readonly refused: CairnError; readonly reason: string | undefined };

export async function passQuestionOn(context: Pick<HostToolContext, 'ask'>, question: HostQuestion): Promise<Said> {
  try {
    return { answer: await context.ask(question) };
  } catch (error) {
    if (!isCairnError(error, 'input_rejected')) throw error;
    const { reason } = error.details ?? {};
    return { refused: error, reason: typeof reason === 'string' ? reason : undefined };
  }
}
