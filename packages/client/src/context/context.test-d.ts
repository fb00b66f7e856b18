/** The types that a program with conversations meets, checked by the compiler alone. */
import type { Context, MessageAccepted, TaskEvent, TaskEventOf } from './index.ts';

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const holds = <_Claim extends true>(): void => undefined;

export async function followed(context: Context): Promise<void> {
  for await (const event of context.follow({ kinds: ['tool-start'], verbosity: 'brief' })) {
    if (event.kind === 'tool-start') holds<Same<typeof event, TaskEventOf<'tool-start'>>>();
    if (event.kind === 'stream:caught-up') holds<Same<typeof event.cursor, number>>();
    // @ts-expect-error: no such kind
    if (event.kind === 'tool-begin') return;
  }
  // @ts-expect-error: no such kind
  context.follow({ kinds: ['tool-begin'] });
}

export async function sent(context: Context): Promise<void> {
  const message = context.send('Hello?');
  const accepted = await message;
  holds<Same<typeof accepted, MessageAccepted>>();
  for await (const event of message) holds<Same<typeof event, TaskEvent>>();
}
