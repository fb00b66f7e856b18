/** Commands whose answer is recorded for an `Idempotency-Key` in the very commit that it tells of. */
import type { IdempotentRequest } from '../../engine/engine.ts';
import type { OpenCall } from '../http/routes.ts';

export interface Committed<Answer> {
  readonly status: number;
  readonly body: (answer: Answer) => string;
  readonly command: (idempotency: IdempotentRequest<Answer> | undefined) => Promise<Answer>;
}

export async function committed<Answer>(
  { once, reply }: OpenCall,
  { status, body, command }: Committed<Answer>,
): Promise<string> {
  const answer = await command(once && { ...once, response: (given) => ({ status, body: body(given) }) });
  reply.code(status);
  return body(answer);
}
