/** Commands of the engine whose response is recorded under an `Idempotency-Key` in the append that carries them out. */
import type { IdempotentRequest } from '../../engine/engine.ts';
import type { HttpCall } from '../http/routes.ts';

export interface RecordedCommand<Answer> {
  readonly status: number;
  readonly body: (answer: Answer) => string;
  readonly command: (idempotency: IdempotentRequest<Answer> | undefined) => Promise<Answer>;
}

export async function recordedCommand<Answer>(
  { requestKey, reply }: HttpCall,
  { status, body, command }: RecordedCommand<Answer>,
): Promise<string> {
  const answer = await command(requestKey && { ...requestKey, response: (given) => ({ status, body: body(given) }) });
  reply.code(status);
  return body(answer);
}
