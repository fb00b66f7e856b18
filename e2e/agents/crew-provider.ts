/** The crew's model as a server: streams replies with reasoning, text and tool calls in chunks, and counts requests. */
import type { JsonObject } from '@cairn/protocol';
import {
  callFragment,
  chunk,
  type FakeOpenAi,
  type FakeReply,
  fakeOpenAi,
  usageChunk,
} from '../../packages/host/test/kit/fake-openai.ts';
import { fields, objects } from '../../packages/host/test/kit/json-fields.ts';
import { type ChatRequest, type CrewReply, crewReply, turnName } from './crew-model.ts';

export interface CrewProvider extends AsyncDisposable {
  readonly url: string;
  readonly server: FakeOpenAi;
  /** Number of requests for each turn of a topic, keyed by `agent/turn`. */
  asked(topic: string): ReadonlyMap<string, number>;
}

export async function crewProvider(everyMs: number): Promise<CrewProvider> {
  const counts = new Map<string, Map<string, number>>();
  const server = await fakeOpenAi(({ body }) => {
    const request = requestOf(body);
    const { topic, agent, turn } = turnName(request);
    const ofTopic = counts.get(topic) ?? new Map<string, number>();
    counts.set(topic, ofTopic);
    ofTopic.set(`${agent}/${turn}`, (ofTopic.get(`${agent}/${turn}`) ?? 0) + 1);
    const reply = crewReply(request);
    if (reply !== null) return { chunks: chunksOf(reply), everyMs };
    const message = `The crew has no turn ${turn} of ${agent}.`;
    return { status: 400, body: { error: { message, type: 'invalid_request_error' } } } satisfies FakeReply;
  });
  return {
    url: server.url,
    server,
    asked: (topic) => counts.get(topic) ?? new Map<string, number>(),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** The fields of a model call that the crew reads. */
const requestOf = (body: JsonObject): ChatRequest => ({
  messages: objects(body.messages).map(({ role, content }) => ({ role: String(role), content })),
  tools: objects(body.tools ?? []).map((tool) => ({ function: { name: String(fields(tool.function).name) } })),
});

/** Streams words one by one, and call arguments in two fragments. */
function chunksOf({ think = '', say = '', calls = [] }: CrewReply): readonly JsonObject[] {
  const words = (text: string): readonly string[] => text.match(/\S+\s*/g) ?? [];
  const fragments = calls.flatMap(({ name, input }, index) => {
    const text = JSON.stringify(input);
    const half = Math.ceil(text.length / 2);
    return [
      callFragment(index, { id: `call_${index}`, name, arguments: text.slice(0, half) }),
      callFragment(index, { arguments: text.slice(half) }),
    ];
  });
  const usage = { prompt_tokens: 50, completion_tokens: 20, total_tokens: 70 };
  return [
    ...words(think).map((text) => chunk({ reasoning_content: text })),
    ...words(say).map((text) => chunk({ content: text })),
    ...fragments.map((delta) => chunk(delta)),
    chunk({}, calls.length > 0 ? 'tool_calls' : 'stop'),
    usageChunk(usage),
  ];
}
