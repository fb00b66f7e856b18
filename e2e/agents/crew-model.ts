/**
 * The model's replies for the research crew: a pure function of the request, so that a repeated turn gets the same
 * reply.
 */
import type { JsonObject } from '@cairn/protocol';

/** A request to an OpenAI-compatible server, limited to the fields used here. */
export interface ChatRequest {
  readonly messages: readonly { readonly role: string; readonly content?: unknown }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

export interface CrewReply {
  readonly think?: string;
  readonly say?: string;
  readonly calls?: readonly { readonly name: string; readonly input: JsonObject }[];
}

/** Identifies a turn by agent, number and topic. Repeated requests for a turn have the same name. */
export interface TurnName {
  readonly topic: string;
  readonly agent: string;
  readonly turn: number;
}

const RESEARCHER = 'community.cairn.research-crew.researcher';

/** Agents, identified by the opening of their prompts. */
const openings: readonly (readonly [agent: string, opening: string])[] = [
  ['planner', 'You plan research'],
  ['researcher', 'You research the questions'],
  ['writer', 'You write one-page briefs'],
];

const textOf = (content: unknown): string => (typeof content === 'string' ? content : JSON.stringify(content ?? ''));

export function turnName({ messages }: ChatRequest): TurnName {
  const system = textOf(messages.find(({ role }) => role === 'system')?.content);
  const agent = openings.find(([, opening]) => system.includes(opening))?.[0] ?? 'nobody';
  const task = textOf(messages.find(({ role }) => role === 'user')?.content);
  const topic = /topic-[a-z0-9-]+/.exec(task)?.[0] ?? 'none';
  return { topic, agent, turn: messages.filter(({ role }) => role === 'assistant').length };
}

const call = (name: string, input: JsonObject) => ({ name: name.replace(/[^a-zA-Z0-9_-]/g, '_'), input });

const scripts: Readonly<Record<string, readonly ((topic: string) => CrewReply)[]>> = {
  planner: [
    (topic) => ({
      think: `What would one want to know of ${topic}? Three things.`,
      say: 'I hand three questions on.',
      calls: [
        call('openwop:handoff', {
          agentId: RESEARCHER,
          message: `Answer these questions on ${topic}.`,
          task: { topic, questions: ['How?', 'Why?', 'What next?'] },
        }),
      ],
    }),
  ],
  researcher: [
    (topic) => ({
      think: 'I look things up, all at once.',
      calls: [call('desk:look', { what: topic }), call('desk:look', { what: 'why' }), call('openwop:time', {})],
    }),
    (topic) => ({
      say: 'Now I file what I found.',
      calls: [
        call('desk:file', { what: `${topic} found` }),
        call('desk:tally', { what: topic }),
        call('openwop:recall', { text: topic }),
      ],
    }),
    (topic) => ({ calls: [call('openwop:fs.write', { path: 'notes.md', text: `# Notes on ${topic}\n` })] }),
    (topic) => ({ think: 'That is all.', say: `The notes on ${topic} are in notes.md, one heading a question.` }),
  ],
  writer: [
    () => ({ calls: [call('openwop:fs.read', { path: 'notes.md' })] }),
    (topic) => ({
      think: 'Title, short version, findings, what is open.',
      calls: [
        call('openwop:fs.write', { path: 'brief.md', text: `# ${topic}\n\nAll is well.\n` }),
        call('desk:file', { what: `${topic} brief` }),
      ],
    }),
    (topic) => ({ say: `# ${topic}\n\nAll is well, as far as the notes go.` }),
  ],
};

/** Uses only the offered tools. Returns null for a turn the crew never takes. */
export function crewReply(request: ChatRequest): CrewReply | null {
  const { agent, topic, turn } = turnName(request);
  const reply = scripts[agent]?.[turn]?.(topic);
  if (reply === undefined) return null;
  const offered = new Set(request.tools?.map((tool) => tool.function.name));
  return { ...reply, calls: (reply.calls ?? []).filter(({ name }) => offered.has(name)) };
}
