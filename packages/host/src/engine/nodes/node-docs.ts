/**
 * What authors need to know about the built-in node types, besides the schemas of their settings. The reference pages,
 * `GET /v1/node-types` and `cairn nodes` show it, and registration checks references against it.
 */
import type { NodeDoc } from '../workflow/node-doc.ts';
import { agentNodeDocs } from './agent-node-docs.ts';

const timeoutMs = 'How long to wait for an answer, in ms. The node fails when it is over. Default: no limit.';
const resumeSchema = 'A JSON Schema that the answer must fit.';
const itsInputs = 'Its inputs, under their names. The input `input` is spread if it is an object.';

export const nodeDocs: Readonly<Record<string, NodeDoc>> = {
  ...agentNodeDocs,
  'core.noop': {
    summary: 'Does nothing and completes at once.',
    settings: {
      nondeterministic: 'Published test workflows have it. It has no effect.',
      phase4Probe: 'Published test workflows have it. It has no effect.',
    },
    outputs: {},
  },
  'core.identity': {
    summary: 'Gives its inputs back as its outputs.',
    settings: {
      emitDuplicateMessageId: 'For tests: writes one message twice to the channel `messages`.',
      memoryAction: 'For hosts under test. It has no effect on others.',
      probeMemoryRef: 'For hosts under test. It has no effect on others.',
      byokSecretId: 'For hosts under test. It has no effect on others.',
    },
    outputs: {},
    otherOutputs: itsInputs,
  },
  'core.start': {
    summary: 'Marks where a run starts. Only needed if every node has an edge that leads to it.',
    settings: {},
    outputs: {},
    otherOutputs: 'The inputs of the run, under their names.',
  },
  'core.end': {
    summary: 'Its inputs become the outputs of the run.',
    settings: {},
    outputs: {},
    otherOutputs: itsInputs,
  },
  'core.parallel': {
    summary: 'Starts all nodes that its edges lead to, side by side, with its inputs.',
    settings: {},
    outputs: {},
    otherOutputs: itsInputs,
  },
  'core.merge': {
    summary: 'Waits for the nodes before it and collects their outputs.',
    settings: {},
    outputs: { inputs: 'The outputs of the nodes that led here, by node id.' },
  },
  'core.fail': {
    summary: 'Fails with a code and a message of your choice.',
    settings: {
      code: 'The error code. Default `conformance_test_failure`.',
      message: 'The error message.',
      retryable: 'Whether the retries of the node apply. Default false.',
    },
    outputs: {},
  },
  'core.delay': {
    summary: 'Waits for a time. The wait survives a restart of the host.',
    settings: {
      delayMs: 'How long to wait, in ms, at most a year.',
      ms: 'Another name for `delayMs`.',
      durationMs: 'Another name for `delayMs`.',
    },
    inputs: { delayMs: 'Takes precedence over the setting.' },
    outputs: {},
  },
  'core.conditional': {
    summary: 'Takes one of two ways. It needs `expression` or `condition`.',
    settings: {
      expression: 'A CEL expression. `output` is the inputs of the node.',
      condition: 'A condition as on an edge. Used if there is no `expression`.',
    },
    outputs: { result: 'true or false.' },
    ports: { true: 'The expression is true.', false: 'It is not.' },
  },
  'core.loop': {
    summary: 'Repeats the nodes between its port `body` and an edge back to it. It needs exactly one of its settings.',
    settings: {
      times: 'How often to repeat.',
      whileExpression: 'A CEL expression, evaluated before each turn.',
      items: 'A list, or a CEL expression that gives one. One turn for each item.',
    },
    outputs: {
      index: 'The number of the turn, from 0.',
      item: 'The item of the turn, for `items`.',
      iterations: 'How many turns there were, once the loop is done.',
    },
    ports: { body: 'Another turn begins.', done: 'The loop is done.' },
  },
  'core.setVariable': {
    summary: 'Sets a variable of the run to `expression`, to the input `value` or to the setting `value`.',
    settings: {
      name: 'The name of the variable. It need not be declared.',
      variableName: 'Another name for `name`.',
      expression: 'A CEL expression.',
      value: 'Any JSON value.',
    },
    inputs: { value: 'Takes precedence over the setting `value`.' },
    outputs: { value: 'The new value.' },
  },
  'core.getVariable': {
    summary: 'Reads a variable of the run.',
    settings: { name: 'The name of the variable.', variableName: 'Another name for `name`.' },
    outputs: { value: 'Its value; null if it has none.' },
  },
  'core.channelWrite': {
    summary: 'Writes to a channel of the run.',
    settings: {
      channelName: 'The name of the channel.',
      reducer: 'How the channel combines writes, if the workflow does not declare it. Default `replace`.',
      ttlMs: 'How long an entry lasts, in ms, if the workflow does not declare the channel.',
      value: 'What to write.',
      agentSharing: '`isolated`, `shared` or `shared:<group>`, for messages of agents.',
    },
    inputs: { value: 'Takes precedence over the setting.' },
    outputs: { value: 'What was written.' },
  },
  'core.approvalGate': {
    summary: 'Waits until people approve or reject. Rejection fails the node, unless an edge leaves by `rejected`.',
    settings: {
      title: 'The question. Default: the name of the node.',
      description: 'What the people who decide should know.',
      actions: 'What they may do: `accept`, `reject`, `refine`, `edit-accept`, `ask`. Default `accept` and `reject`.',
      requiredApprovals: 'How many people must accept. Default 1.',
      approversList: 'The principals who may decide. Default, and if it is empty: everyone with the scope.',
      rejectionPolicy: '`single-veto` (default): one rejection decides. `majority`: most of them.',
      overrideBypassesQuorum: 'Defined by the protocol; this host has no override role.',
      approverGroupRefs: 'Groups who may decide. This host knows none, so it needs `approversList`, too.',
      approverRoleRefs: 'Roles who may decide. This host knows none, so it needs `approversList`, too.',
      audience: 'Who should be told, for hosts that notify people.',
      artifactId: 'The id of what is decided on. Default: the id of the node.',
      artifactType: 'The type of what is decided on. Default `approval`.',
      artifactData: 'What to show. Default: the inputs of the node.',
      timeoutMs,
      resumeSchema,
      profile: 'Published test workflows have it. It has no effect.',
    },
    inputs: { artifactData: 'Takes precedence over the setting. All other inputs are shown, too.' },
    outputs: { approved: 'Whether it was accepted.', action: 'The action that decided.', decidedBy: 'Who decided.' },
    otherOutputs: 'The other fields of the answer, such as `editedArtifactData` and `refineFeedback`.',
    ports: {
      approved: 'It was accepted.',
      rejected: 'It was rejected.',
      refined: 'Changes are wanted. Without an edge at this port, `output` is taken.',
    },
  },
  'core.clarificationGate': {
    summary: 'Asks people questions and waits for the answers.',
    settings: {
      questions: 'Each has an `id`, a `question` and perhaps a JSON Schema for the answer, `schema`.',
      contextType:
        'What the questions are about, for user interfaces. With `cairn.require-user`, only the user who started the run may answer.',
      timeoutMs,
      resumeSchema,
    },
    outputs: { answers: 'The answers, by the id of the question.' },
    otherOutputs: 'The other fields of the answer.',
  },
  'core.interrupt': {
    summary: 'Waits for an answer of any kind. `data` depends on `kind`.',
    settings: {
      kind: '`approval`, `clarification`, `external-event` or `custom`.',
      data: 'The question, in the form of its kind. The page about interrupts lists them.',
      timeoutMs,
      resumeSchema,
    },
    outputs: {},
    otherOutputs: 'The fields of the answer; `output` if the answer is not an object.',
    ports: { approved: 'For approvals.', rejected: 'For approvals.', refined: 'For approvals.' },
  },
  'core.conversationGate': {
    summary: 'Opens a conversation, records its turns, and completes when it is closed.',
    settings: {
      prompt: 'The first message. Default: the name of the node.',
      channel: 'The channel of the messages. Default `messages`.',
      participants: 'Who may speak, each as `{ agentId, name }`. Default: everyone.',
      schema: 'A JSON Schema that each turn must fit.',
      outcomeSchema: 'A JSON Schema that the outcome must fit.',
      timeoutMs,
      lifecycle: 'Always `open-exchange-close`.',
      mockAutoResume: 'For hosts under test: the node takes the turns itself.',
      turnCount: 'For hosts under test: how many turns it takes.',
    },
    inputs: { prompt: 'Takes precedence over the setting.' },
    outputs: {
      conversationId: 'The id of the conversation.',
      outcome: 'What it was closed with.',
      reason: 'Why it was closed.',
      turnCount: 'How many turns there were.',
    },
  },
  'core.subWorkflow': {
    summary: 'Runs another workflow as a child run and waits for its end.',
    settings: {
      workflowId: 'The workflow to run. Its newest version is used.',
      waitForCompletion: 'Always true.',
      onChildFailure: '`fail-parent` (default): the node fails with its child. `absorb`: it completes.',
      inputMapping: 'Variables of the child, by name, each with the variable of this run that it gets.',
      outputMapping: 'Variables of this run, by name, each with the variable of the child that it gets.',
      propagateCancellation: 'Whether the child is cancelled with this run. Default true.',
      memoryScopeIsolation: 'Gives the child a memory scope of its own.',
    },
    outputs: { childRunId: 'The id of the child run.', childStatus: 'Its last status.' },
  },
  'core.dispatch': {
    summary: 'Carries out the latest decision of a supervisor: runs workers, asks the user, or ends the run.',
    settings: {
      askUserRouting: 'How a question to the user is asked: `conversation`, `clarification` or `auto` (default).',
      workerDispatchModel: 'Always `child-run`.',
      fanOutPolicy:
        'Several workers run one by one (`sequential`, default), side by side (`parallel`), or not (`reject`).',
      joinPolicy: 'For `parallel`: `all` must complete, `any` is enough, or `settled`: the node waits for all.',
      onChildFailure: '`fail-parent` (default) or `absorb`, where no join policy applies.',
      iterationCap: 'How many dispatches the run may make.',
      inputMapping: 'Variables of a worker, by name, each with the variable of this run that it gets.',
      outputMapping: 'Variables of this run, by name, each with the variable of the worker that it gets.',
      perWorkerInputMappings: 'Input mappings by worker. They replace `inputMapping`.',
      perWorkerOutputMappings: 'Output mappings by worker. They replace `outputMapping`.',
      memoryScopeIsolation: 'Gives workers a memory scope of their own. By default they share that of this run.',
    },
    outputs: {
      childRunId: 'The run of the last worker.',
      childStatus: 'Its last status.',
      answer: 'The answer of the user.',
      reason: 'Why the supervisor ended the run.',
      children: 'For parallel workers: all of them, each with `workerId`, `childRunId` and `childStatus`.',
      joinOutcome: 'For parallel workers: how they were joined.',
      mergeOrder: 'For parallel workers: those that completed, in order.',
    },
  },
};
