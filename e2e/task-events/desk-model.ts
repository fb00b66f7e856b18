/** The model of the desk: a pure function of the request, so that a repeated turn gets the same reply. */
import type { JsonObject } from '@cairn/protocol';
import {
  callFragment,
  chunk,
  type FakeOpenAi,
  type FakeReply,
  fakeOpenAi,
  usageChunk,
} from '../../packages/host/test/kit/fake-openai.ts';
import { objects } from '../../packages/host/test/kit/json-fields.ts';

interface Turn {
  readonly think?: string;
  readonly say?: string;
  readonly call?: readonly [tool: string, input: JsonObject];
}

const long = Array.from({ length: 20 }, (_, i) => `Word ${i}`).join(', ');
const calls = (tool: string, input: JsonObject = {}): readonly Turn[] => [
  { say: 'I look into it.', call: [tool, input] },
  { say: 'That is all.' },
];

const scripts: Readonly<Record<string, readonly Turn[]>> = {
  desk: [
    { think: 'First the report.', say: `${long}. I write the report.`, call: ['desk_work', { title: 'Parcels' }] },
    { say: 'Now a question.', call: ['desk_ask', {}] },
    { say: `${long}. Done.` },
  ],
  picker: calls('pick_color'),
  worker: calls('desk_work', { title: 'Letters' }),
  asker: calls('desk_ask'),
  sleeper: calls('desk_stuck'),
  breaker: calls('desk_broken'),
  /** Calls a tool that does not exist. */
  dreamer: calls('desk_rocket'),
  clerk: calls('desk_ledger'),
};

/** `everyMs`: the pause between two chunks, so that a turn lasts long enough for a kill to hit it. */
export const deskModel = (everyMs: number): Promise<FakeOpenAi> =>
  fakeOpenAi(({ body }): FakeReply => {
    const turn = turnOf(body);
    if (turn !== null) return { chunks: chunksOf(turn), everyMs };
    return { status: 400, body: { error: { message: 'No such turn.', type: 'invalid_request_error' } } };
  });

/** Null for a turn that is in no script. The turns of earlier messages of the conversation do not count. */
function turnOf(body: JsonObject): Turn | null {
  const messages = objects(body.messages);
  const system = JSON.stringify(messages.filter(({ role }) => role === 'system'));
  const name = /You are the (\w+)\./.exec(system)?.[1] ?? '';
  const last = messages.findLastIndex(({ role }) => role === 'user');
  const turn = messages.slice(last).filter(({ role }) => role === 'assistant').length;
  return scripts[name]?.[turn] ?? null;
}

function chunksOf({ think = '', say = '', call }: Turn): readonly JsonObject[] {
  const words = (text: string): readonly string[] => text.match(/\S+\s*/g) ?? [];
  const [name = '', input = {}] = call ?? [];
  return [
    ...words(think).map((text) => chunk({ reasoning_content: text })),
    ...words(say).map((text) => chunk({ content: text })),
    ...(call === undefined ? [] : [chunk(callFragment(0, { id: 'c', name, arguments: JSON.stringify(input) }))]),
    chunk({}, call === undefined ? 'stop' : 'tool_calls'),
    usageChunk({ prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 }),
  ];
}
