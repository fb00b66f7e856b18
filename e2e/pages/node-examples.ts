/** A workflow for each built-in node type. The page of node types shows them, and a test runs each to its end. */

import { defineAgent, defineWorkflow, expression, fixed, outputOf, variable } from '../../packages/host/src/index.ts';
import type { AuthoredWorkflow, Json, JsonObject } from '../../packages/protocol/src/index.ts';

export interface NodeExample {
  readonly workflow: AuthoredWorkflow;
  readonly inputs?: JsonObject;
  /** The answers to the questions of the run, by node id, in order. */
  readonly answers?: Readonly<Record<string, Json>>;
  readonly status?: 'completed' | 'failed';
  /** What the variables of the run hold at its end. */
  readonly variables?: JsonObject;
}

/** The agents of the examples play scripts, so that they need no model. */
export const exampleAgents = [
  defineAgent({
    id: 'host:writer',
    persona: 'Writer',
    instructions: 'You write one sentence about the topic.',
    rehearsal: { turns: [[{ say: 'Tides turn twice a day.' }]] },
  }),
  defineAgent({
    id: 'host:counter',
    persona: 'Counter',
    instructions: 'You count the words of the text.',
    rehearsal: { turns: [[{ answer: { words: 3 } }]] },
  }),
  defineAgent({
    id: 'host:chief',
    persona: 'Chief',
    instructions: 'You send workers until the goal is reached.',
    rehearsal: { turns: [[{ answer: { kind: 'terminate', reason: 'goal-reached' } }]] },
  }),
];

/** Other workflows that the examples run as children. */
export const exampleChildren: readonly AuthoredWorkflow[] = [
  defineWorkflow({
    id: 'shout',
    variables: { text: { type: 'string' }, loud: { type: 'string' } },
    nodes: { up: { type: 'core.setVariable', config: { name: 'loud', expression: 'variables.text.upperAscii()' } } },
  }),
];

export const nodeExamples: Readonly<Record<string, NodeExample>> = {
  'cairn.agent': {
    workflow: defineWorkflow({
      id: 'write',
      variables: { topic: { type: 'string' }, text: { type: 'string' } },
      nodes: {
        writer: { type: 'cairn.agent', agent: 'host:writer', inputs: { topic: variable('topic') } },
        keep: { type: 'core.setVariable', config: { name: 'text' }, inputs: { value: outputOf('writer', 'content') } },
      },
    }),
    inputs: { topic: 'tides' },
    variables: { topic: 'tides', text: 'Tides turn twice a day.' },
  },
  'core.a2a.invoke': {
    workflow: defineWorkflow({
      id: 'ask-desk',
      nodes: {
        ask: {
          type: 'core.a2a.invoke',
          config: { peer: 'desk' },
          inputs: { message: fixed('My parcel is late.') },
        },
      },
    }),
    // The peer of the test does not run.
    status: 'failed',
  },
  'core.ai.callPrompt': {
    workflow: defineWorkflow({
      id: 'prompt',
      nodes: { write: { type: 'core.ai.callPrompt', agent: 'host:writer', config: { prompt: 'Write about tides.' } } },
    }),
  },
  'core.ai.structuredOutput': {
    workflow: defineWorkflow({
      id: 'count',
      variables: { words: { type: 'number' } },
      nodes: {
        count: {
          type: 'core.ai.structuredOutput',
          agent: 'host:counter',
          config: { outputSchema: { type: 'object', properties: { words: { type: 'number' } }, required: ['words'] } },
          inputs: { text: fixed('Tides turn twice.') },
        },
        keep: {
          type: 'core.setVariable',
          config: { name: 'words' },
          inputs: { value: expression('outputs.count.result.words') },
        },
      },
    }),
    variables: { words: 3 },
  },
  'core.approvalGate': {
    workflow: defineWorkflow({
      id: 'refund',
      variables: { euros: { type: 'number', required: true }, state: { type: 'string' } },
      nodes: {
        gate: {
          type: 'core.approvalGate',
          config: { title: 'Pay this back?', requiredApprovals: 1 },
          inputs: { euros: variable('euros') },
        },
        paid: { type: 'core.setVariable', config: { name: 'state', value: 'paid' } },
        kept: { type: 'core.setVariable', config: { name: 'state', value: 'kept' } },
      },
      edges: [
        { from: 'gate', to: 'paid', port: 'approved' },
        { from: 'gate', to: 'kept', port: 'rejected' },
      ],
    }),
    inputs: { euros: 180 },
    answers: { gate: { action: 'reject' } },
    variables: { euros: 180, state: 'kept' },
  },
  'core.channelWrite': {
    workflow: defineWorkflow({
      id: 'notes',
      channels: { notes: { reducer: 'append' } },
      nodes: {
        first: { type: 'core.channelWrite', config: { channelName: 'notes', value: 'Low water at noon.' } },
        second: { type: 'core.channelWrite', config: { channelName: 'notes', value: 'High water at six.' } },
      },
    }),
  },
  'core.clarificationGate': {
    workflow: defineWorkflow({
      id: 'ask',
      variables: { harbour: { type: 'string' } },
      nodes: {
        ask: {
          type: 'core.clarificationGate',
          config: { questions: [{ id: 'harbour', question: 'Which harbour?', schema: { type: 'string' } }] },
        },
        keep: {
          type: 'core.setVariable',
          config: { name: 'harbour', expression: 'outputs.ask.answers.harbour' },
        },
      },
    }),
    answers: { ask: { answers: { harbour: 'Hamburg' } } },
    variables: { harbour: 'Hamburg' },
  },
  'core.conditional': {
    workflow: defineWorkflow({
      id: 'sort',
      variables: { euros: { type: 'number', required: true }, size: { type: 'string' } },
      nodes: {
        large: { type: 'core.conditional', config: { expression: 'variables.euros > 100.0' } },
        big: { type: 'core.setVariable', config: { name: 'size', value: 'big' } },
        small: { type: 'core.setVariable', config: { name: 'size', value: 'small' } },
      },
      edges: [
        { from: 'large', to: 'big', port: 'true' },
        { from: 'large', to: 'small', port: 'false' },
      ],
    }),
    inputs: { euros: 180 },
    variables: { euros: 180, size: 'big' },
  },
  'core.conversationGate': {
    workflow: defineWorkflow({
      id: 'talk',
      nodes: { talk: { type: 'core.conversationGate', config: { prompt: 'What should we plan?' } } },
    }),
    answers: { talk: { operation: 'close', turn: { content: 'Nothing today.' }, outcome: 'none' } },
  },
  'core.delay': {
    workflow: defineWorkflow({
      id: 'nap',
      nodes: { nap: { type: 'core.delay', config: { delayMs: 10 } } },
    }),
  },
  'core.dispatch': {
    workflow: defineWorkflow({
      id: 'led',
      nodes: {
        chief: {
          type: 'core.orchestrator.supervisor',
          agent: 'host:chief',
          config: { workers: [{ id: 'shout', description: 'Writes a text in capitals.' }] },
          inputs: { goal: fixed('Nothing is left to do.') },
        },
        go: { type: 'core.dispatch', config: { fanOutPolicy: 'sequential' } },
      },
      edges: [
        { from: 'chief', to: 'go' },
        { from: 'go', to: 'chief' },
      ],
    }),
  },
  'core.end': {
    workflow: defineWorkflow({
      id: 'give-back',
      variables: { name: { type: 'string', defaultValue: 'Ada' } },
      nodes: { end: { type: 'core.end', inputs: { greeting: expression('"Hello, " + variables.name') } } },
    }),
  },
  'core.fail': {
    workflow: defineWorkflow({
      id: 'stop',
      nodes: { stop: { type: 'core.fail', config: { code: 'no_stock', message: 'Nothing is left.' } } },
    }),
    status: 'failed',
  },
  'core.getVariable': {
    workflow: defineWorkflow({
      id: 'read',
      variables: { name: { type: 'string', defaultValue: 'Ada' }, copy: { type: 'string' } },
      nodes: {
        read: { type: 'core.getVariable', config: { name: 'name' } },
        copy: { type: 'core.setVariable', config: { name: 'copy' }, inputs: { value: outputOf('read', 'value') } },
      },
    }),
    variables: { name: 'Ada', copy: 'Ada' },
  },
  'core.identity': {
    workflow: defineWorkflow({
      id: 'echo',
      nodes: { echo: { type: 'core.identity', inputs: { payload: fixed({ deep: [1, 2] }) } } },
    }),
  },
  'core.interrupt': {
    workflow: defineWorkflow({
      id: 'paid',
      nodes: {
        wait: {
          type: 'core.interrupt',
          config: { kind: 'external-event', data: { eventType: 'payment.received', correlation: { order: 4711 } } },
        },
      },
    }),
    answers: { wait: { eventPayload: { order: 4711, euros: 180 } } },
  },
  'core.loop': {
    workflow: defineWorkflow({
      id: 'total',
      variables: { sum: { type: 'number', defaultValue: 0 } },
      nodes: {
        each: { type: 'core.loop', config: { items: [1, 2, 3] } },
        add: { type: 'core.setVariable', config: { name: 'sum', expression: 'variables.sum + outputs.each.item' } },
        done: { type: 'core.noop' },
      },
      edges: [
        { from: 'each', to: 'add', port: 'body' },
        { from: 'add', to: 'each' },
        { from: 'each', to: 'done', port: 'done' },
      ],
    }),
    variables: { sum: 6 },
  },
  'core.mcp.toolCall': {
    workflow: defineWorkflow({
      id: 'find',
      variables: { topic: { type: 'string' }, found: { type: 'string' } },
      nodes: {
        find: {
          type: 'core.mcp.toolCall',
          config: { serverId: 'search', toolName: 'find', arguments: { limit: 5 } },
          inputs: { topic: variable('topic') },
        },
        keep: { type: 'core.setVariable', config: { name: 'found' }, inputs: { value: outputOf('find', 'result') } },
      },
    }),
    inputs: { topic: 'tides' },
    // The host of the test has no server of this name.
    status: 'failed',
  },
  'core.merge': {
    workflow: defineWorkflow({
      id: 'join',
      nodes: {
        left: { type: 'core.identity', inputs: { n: fixed(1) } },
        right: { type: 'core.identity', inputs: { n: fixed(2) } },
        both: { type: 'core.merge' },
      },
      edges: [
        { from: 'left', to: 'both' },
        { from: 'right', to: 'both' },
      ],
    }),
  },
  'core.noop': {
    workflow: defineWorkflow({
      id: 'rest',
      nodes: { rest: { type: 'core.noop' } },
    }),
  },
  'core.orchestrator.supervisor': {
    workflow: defineWorkflow({
      id: 'decide',
      nodes: {
        chief: {
          type: 'core.orchestrator.supervisor',
          agent: 'host:chief',
          inputs: { goal: fixed('Nothing is left to do.') },
        },
      },
    }),
  },
  'core.parallel': {
    workflow: defineWorkflow({
      id: 'fan',
      nodes: { fan: { type: 'core.parallel' }, a: { type: 'core.noop' }, b: { type: 'core.noop' } },
      edges: [
        { from: 'fan', to: 'a' },
        { from: 'fan', to: 'b' },
      ],
    }),
  },
  'core.setVariable': {
    workflow: defineWorkflow({
      id: 'greet',
      variables: { name: { type: 'string', required: true }, greeting: { type: 'string' } },
      nodes: {
        greet: { type: 'core.setVariable', config: { name: 'greeting', expression: '"Hello, " + variables.name' } },
      },
    }),
    inputs: { name: 'Ada' },
    variables: { name: 'Ada', greeting: 'Hello, Ada' },
  },
  'core.start': {
    workflow: defineWorkflow({
      id: 'begin',
      nodes: { start: { type: 'core.start' }, rest: { type: 'core.noop' } },
    }),
  },
  'core.subWorkflow': {
    workflow: defineWorkflow({
      id: 'call-shout',
      variables: { word: { type: 'string', defaultValue: 'land' }, shouted: { type: 'string' } },
      nodes: {
        shout: {
          type: 'core.subWorkflow',
          config: { workflowId: 'shout', inputMapping: { text: 'word' }, outputMapping: { shouted: 'loud' } },
        },
      },
    }),
    variables: { word: 'land', shouted: 'LAND' },
  },
};
