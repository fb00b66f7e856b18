/** A host with one agent that writes, calls tools and asks, and stock AG-UI clients of it. */
import { type Event as AguiEvent, HttpAgent, type Message, type Tool } from '@ag-ui/client';
import { type ConfigInput, createHost, defineAgent, defineTool, type Host } from '@cairn/host';
import type { JsonObject } from '@cairn/protocol';
import { z } from 'zod';

export const keys = {
  ann: 'ann-key-0123456789-abcdefghijklmnop',
  reader: 'reader-key-0123456789-abcdefghijkl',
  other: 'other-key-0123456789-abcdefghijklmno',
};

/** Resolves when the test lets the tool go on. */
class Gate {
  #open = Promise.withResolvers<void>();
  #reached = Promise.withResolvers<void>();

  /** The tool is at the gate. */
  get reached(): Promise<void> {
    return this.#reached.promise;
  }

  open(): void {
    this.#open.resolve();
  }

  async pass(): Promise<void> {
    this.#reached.resolve();
    await this.#open.promise;
  }

  shut(): void {
    this.#open = Promise.withResolvers<void>();
    this.#reached = Promise.withResolvers<void>();
  }
}

export const gate = new Gate();

const look = defineTool({
  id: 'acme.desk:look',
  description: 'Looks something up.',
  input: z.object({ what: z.string() }),
  safety: 'idempotent',
  run: async ({ what }, context) => {
    await context.progress(0.5, 'half way');
    await gate.pass();
    await context.data('parcel', { what, at: 'depot' });
    return `${what} is at the depot`;
  },
});

const ask = defineTool({
  id: 'acme.desk:ask',
  description: 'Asks the user.',
  input: z.object({ sized: z.boolean() }),
  safety: 'idempotent',
  run: async ({ sized }, context) => {
    const schema = sized ? { schema: z.object({ size: z.int() }) } : {};
    return context.ask({ name: 'where', prompt: 'Where to?', ...schema });
  },
});

const pay = defineTool({
  id: 'acme.desk:pay',
  description: 'Pays, if the user says yes.',
  input: z.object({}),
  safety: 'idempotent',
  run: async (_, context) => ((await context.ask({ prompt: 'Pay?', schema: z.boolean() })) ? 'paid' : 'not paid'),
});

const call = (tool: string, input: JsonObject) => ({ call: { tool, input } });

/** Agents with a script play the same lines in every task. */
const agents = [
  defineAgent({
    id: 'host:desk',
    persona: 'Desk',
    instructions: 'Help.',
    tools: ['acme.desk:look', 'acme.desk:ask', 'client:*'],
    rehearsal: {
      turns: [
        [{ say: ['I ', 'look.'] }, call('acme.desk:look', { what: 'parcel' })],
        [{ say: ['One ', 'question.'] }, call('acme.desk:ask', { sized: false })],
        [{ say: ['All ', 'done.'] }],
      ],
    },
  }),
  defineAgent({
    id: 'host:form',
    persona: 'Form',
    instructions: 'Ask.',
    tools: ['acme.desk:ask'],
    rehearsal: { turns: [[call('acme.desk:ask', { sized: true })], [{ say: ['Thanks.'] }]] },
  }),
  defineAgent({
    id: 'host:payer',
    persona: 'Payer',
    instructions: 'Pay.',
    tools: ['acme.desk:pay'],
    rehearsal: { turns: [[call('acme.desk:pay', {})], [{ say: ['Well.'] }]] },
  }),
  defineAgent({
    id: 'host:picker',
    persona: 'Picker',
    instructions: 'Let the user pick.',
    tools: ['acme.desk:look', 'client:*'],
    rehearsal: {
      turns: [
        [
          { say: ['Pick ', 'one.'] },
          call('client:pick', { from: ['red', 'blue'] }),
          call('client:measure', {}),
          call('acme.desk:look', { what: 'paint' }),
        ],
        [{ say: ['Good.'] }],
      ],
    },
  }),
  defineAgent({
    id: 'host:guide',
    persona: 'Guide',
    instructions: 'Answer.',
    rehearsal: { turns: [[{ say: ['Your parcel ', 'is at the depot.'] }]] },
  }),
  defineAgent({
    id: 'host:echo',
    persona: 'Echo',
    instructions: 'Answer.',
    rehearsal: { turns: [[{ say: ['Hello', ' there.'] }]] },
  }),
  /** Only this one needs a model. */
  defineAgent({ id: 'host:novelist', persona: 'Novelist', instructions: 'Write.', modelClass: 'reasoning' }),
];

/** What a test adds: the pages that browsers may call the host from, and a model for the novelist. */
export interface DeskOptions {
  readonly origins?: readonly string[];
  readonly models?: ConfigInput['models'];
}

export const openDesk = (data: string, { origins = [], models = {} }: DeskOptions = {}): Promise<Host> =>
  createHost({
    config: {
      port: 0,
      data,
      models,
      cors: { origins: [...origins] },
      keys: [
        { key: keys.ann, tenant: 't', principal: 'ann' },
        { key: keys.reader, tenant: 't', principal: 'ray', scopes: ['runs:create', 'runs:read'] },
        { key: keys.other, tenant: 'u', principal: 'eve' },
      ],
    },
    tools: [look, ask, pay],
    agents,
    report: () => undefined,
  });

/** A stock client, and everything that came to it. */
export class Client {
  readonly agent: HttpAgent;
  readonly events: AguiEvent[] = [];

  constructor(host: Host, agentId: string, options: { threadId?: string; messages?: Message[]; key?: string } = {}) {
    const { threadId, messages = [], key = keys.ann } = options;
    this.agent = new HttpAgent({
      url: `${host.url}/api/agui/${agentId}`,
      headers: { authorization: `Bearer ${key}` },
      initialMessages: messages,
      ...(threadId !== undefined && { threadId }),
    });
    this.agent.subscribe({ onEvent: ({ event }) => void this.events.push(event as AguiEvent) });
  }

  say(content: string): this {
    this.agent.addMessage({ id: crypto.randomUUID(), role: 'user', content });
    return this;
  }

  run(
    options: {
      runId?: string;
      tools?: Tool[];
      resume?: { interruptId: string; status: 'resolved' | 'cancelled'; payload?: unknown }[];
    } = {},
  ) {
    return this.agent.runAgent(options);
  }

  get types(): readonly string[] {
    return this.events.map(({ type }) => type);
  }

  /** The texts of the conversation, in order. */
  get texts(): readonly string[] {
    return this.agent.messages.flatMap(({ role, content }) =>
      typeof content === 'string' && content !== '' ? `${role}: ${content}` : [],
    );
  }
}
