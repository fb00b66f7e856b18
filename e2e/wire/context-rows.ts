/** The task view (`/api`): messages, the events and tasks of a context, answers. */
import { given, type Names, type Stage, type WireRow } from './wire-row.ts';

const at = 'task events';
const message = { role: 'user', content: 'Hello?' };
const agentId = 'host:wire';
const asynchronous = { prefer: 'respond-async' };

/** The context of a run. */
const inContext =
  (run: (stage: Stage) => Promise<Names>) =>
  async (stage: Stage): Promise<Names> => {
    const names = await run(stage);
    const { contextId } = await stage.told({ to: `GET /v1/runs/${names.run}` });
    return { ...names, context: String(contextId) };
  };

const waiting = inContext(given.waiting);
const done = inContext(given.done);

/** A context whose task waits, and what it asks. */
const asked = async (stage: Stage): Promise<Names> => {
  const names = await waiting(stage);
  const { tasks } = await stage.told({ to: `GET /api/contexts/${names.context}/tasks` });
  const input = /"pending":\[\{"type":"input","id":"([^"]+)"/.exec(JSON.stringify(tasks))?.[1];
  return { ...names, input: input ?? 'none' };
};

const answered = async (stage: Stage): Promise<Names> => {
  const names = await asked(stage);
  await stage.told({ to: `POST /api/contexts/${names.context}/inputs/${names.input}`, body: { value: true } });
  return names;
};

/** A context with two tasks that have ended. */
const twoTasks = async (stage: Stage): Promise<Names> => {
  const send = async (to: string) => {
    const { taskId, contextId } = await stage.told({ to, body: { message, agentId }, headers: asynchronous });
    await stage.reaches(String(taskId), 'completed');
    return { task: String(taskId), context: String(contextId) };
  };
  const { task: first, context } = await send('POST /api/messages');
  const { task: second } = await send(`POST /api/contexts/${context}/messages`);
  return { context, first, second };
};

/** A fork whose shared task was purged, and the task after it. */
const purgedFork = async (stage: Stage): Promise<Names> => {
  const { context, first, second } = await twoTasks(stage);
  const forked = await stage.told({ to: `POST /api/contexts/${context}/fork`, body: { before: second ?? '' } });
  const { taskId } = await stage.told({
    to: `POST /api/contexts/${forked.contextId}/messages`,
    body: { message, agentId },
    headers: asynchronous,
  });
  await stage.reaches(String(taskId), 'completed');
  await stage.told({ to: `DELETE /v1/runs/${first}?force=true`, as: 'keeper' });
  return { context: String(forked.contextId), last: String(taskId) };
};

/** A context, and the call of a task in it, as a path names it. */
const called =
  (begin: (stage: Stage) => Promise<Names>) =>
  async (stage: Stage): Promise<Names> => {
    const names = await begin(stage);
    const page = await stage.told({ to: `GET /api/contexts/${names.context}/events?after=0&kinds=tool-start` });
    const toolCallId = /"toolCallId":"([^"]+)"/.exec(JSON.stringify(page))?.[1] ?? 'none';
    return { ...names, call: encodeURIComponent(toolCallId) };
  };

interface Place {
  readonly of: string;
  readonly path: string;
  readonly given: (stage: Stage) => Promise<Names>;
}

const places: readonly Place[] = [
  { of: 'a new context', path: '/api/messages', given: async () => ({}) },
  { of: 'a context', path: '/api/contexts/{context}/messages', given: done },
];

const messageRows = places.flatMap(({ of, path, given: begin }): readonly WireRow[] => [
  {
    at,
    says: `a message in ${of} is answered with the stream of its task`,
    given: begin,
    ask: { to: `POST ${path}`, body: { message, agentId } },
    answer: {
      status: 200,
      headers: { 'content-type': /^text\/event-stream/, 'cairn-task-id': /^run_/ },
      text: /event: task-created\n[\s\S]*event: task-complete\n[\s\S]*event: stream:closing\n/,
    },
  },
  {
    at,
    says: `a message in ${of} is accepted at once when the client prefers that`,
    given: begin,
    ask: { to: `POST ${path}`, body: { message, agentId }, headers: asynchronous },
    answer: { status: 202, headers: { 'preference-applied': 'respond-async' } },
  },
  {
    at,
    says: `a message without content in ${of} is 400`,
    given: begin,
    ask: { to: `POST ${path}`, body: { message: { role: 'user', content: '' }, agentId } },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at,
    says: `an unknown agent in ${of} is 404`,
    given: begin,
    ask: { to: `POST ${path}`, body: { message, agentId: 'vendor.wire.none.agent' } },
    answer: { status: 404, error: 'not_found' },
  },
]);

const reads: readonly { readonly what: string; readonly path: string; readonly wrong: string }[] = [
  { what: 'the stream', path: 'stream', wrong: 'after=-1' },
  { what: 'the events', path: 'events', wrong: 'kinds=dance' },
  { what: 'the tasks', path: 'tasks', wrong: 'limit=0' },
];

const readRows = reads.flatMap(({ what, path, wrong }): readonly WireRow[] => [
  {
    at,
    says: `${what} of an unknown context is 404`,
    ask: { to: `GET /api/contexts/ctx_unknown/${path}` },
    answer: { status: 404, error: 'not_found' },
  },
  {
    at,
    says: `${what} of a context of another tenant is 404`,
    given: waiting,
    ask: { to: `GET /api/contexts/{context}/${path}`, as: 'zoe' },
    answer: { status: 404, error: 'not_found' },
  },
  {
    at,
    says: `${what} with a parameter that means nothing is 400`,
    given: waiting,
    ask: { to: `GET /api/contexts/{context}/${path}?${wrong}` },
    answer: { status: 400, error: 'validation_error' },
  },
]);

export const contextRows: readonly WireRow[] = [
  ...messageRows,
  ...readRows,
  {
    at,
    says: 'a message that must not wait is refused while a task is open',
    given: waiting,
    ask: { to: 'POST /api/contexts/{context}/messages?ifBusy=reject', body: { message, agentId } },
    answer: { status: 409, error: 'conflict', details: { contextId: '{context}' } },
  },
  {
    at,
    says: 'so is one that names the context in its body',
    given: waiting,
    ask: { to: 'POST /api/messages?ifBusy=reject', body: { message, agentId, contextId: '{context}' } },
    answer: { status: 409, error: 'conflict' },
  },
  {
    at,
    says: 'the events of a context come in pages',
    given: waiting,
    ask: { to: 'GET /api/contexts/{context}/events?limit=1' },
    answer: { status: 200, body: { events: [{ kind: 'task-created', taskId: '{run}', contextId: '{context}' }] } },
  },
  {
    at,
    says: 'the tasks of a context say what they wait for',
    given: waiting,
    ask: { to: 'GET /api/contexts/{context}/tasks' },
    answer: { status: 200, body: { tasks: [{ taskId: '{run}', status: 'waiting-input' }] } },
  },
  {
    at,
    says: 'a task has its subtasks',
    given: waiting,
    ask: { to: 'GET /api/contexts/{context}/tasks/{run}' },
    answer: { status: 200, body: { taskId: '{run}', status: 'waiting-input', children: [] } },
  },
  {
    at,
    says: 'a task of another context is 404',
    given: async (stage) => ({ ...(await waiting(stage)), run: (await waiting(stage)).run ?? '' }),
    ask: { to: 'GET /api/contexts/{context}/tasks/{run}' },
    answer: { status: 404, error: 'not_found' },
  },
  {
    at,
    says: 'a task is cancelled',
    given: waiting,
    ask: { to: 'POST /api/contexts/{context}/tasks/{run}/cancel', body: { reason: 'no longer needed' } },
    answer: { status: 202, body: { taskId: '{run}' } },
  },
  {
    at,
    says: 'a cancel with an undeclared property is 400',
    given: waiting,
    ask: { to: 'POST /api/contexts/{context}/tasks/{run}/cancel', body: { why: 'x' } },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at,
    says: 'a cancel of an unknown task is 404',
    given: waiting,
    ask: { to: 'POST /api/contexts/{context}/tasks/run_unknown/cancel' },
    answer: { status: 404, error: 'not_found' },
  },
  {
    at,
    says: 'a task of an imported run cannot be cancelled',
    given: inContext(given.imported),
    ask: { to: 'POST /api/contexts/{context}/tasks/{run}/cancel' },
    answer: { status: 409, error: 'run_imported' },
  },
  {
    at,
    says: 'a node that asks is cancelled with its task only',
    given: called(waiting),
    ask: { to: 'POST /api/contexts/{context}/tools/{call}/cancel', body: { reason: 'no longer needed' } },
    answer: { status: 409, error: 'conflict' },
  },
  {
    at,
    says: 'a cancel of a tool call with an undeclared property is 400',
    given: called(waiting),
    ask: { to: 'POST /api/contexts/{context}/tools/{call}/cancel', body: { why: 'x' } },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at,
    says: 'a tool call that has ended cannot be cancelled',
    given: called(done),
    ask: { to: 'POST /api/contexts/{context}/tools/{call}/cancel' },
    answer: { status: 409, error: 'conflict' },
  },
  {
    at,
    says: 'a cancel of an unknown tool call is 404',
    given: waiting,
    ask: { to: 'POST /api/contexts/{context}/tools/nothing/cancel' },
    answer: { status: 404, error: 'not_found' },
  },
  {
    at,
    says: 'a tool call of another tenant is 404',
    given: called(waiting),
    ask: { to: 'POST /api/contexts/{context}/tools/{call}/cancel', as: 'zoe' },
    answer: { status: 404, error: 'not_found' },
  },
  {
    at,
    says: 'a tool call of an imported run cannot be cancelled',
    given: called(inContext(given.imported)),
    ask: { to: 'POST /api/contexts/{context}/tools/{call}/cancel' },
    answer: { status: 409, error: 'run_imported' },
  },
  {
    at,
    says: 'an answer counts',
    given: asked,
    ask: { to: 'POST /api/contexts/{context}/inputs/{input}', body: { value: true } },
    answer: { status: 202, body: { inputId: '{input}', taskId: '{run}' } },
  },
  {
    at,
    says: 'a second answer is 409',
    given: answered,
    ask: { to: 'POST /api/contexts/{context}/inputs/{input}', body: { value: true } },
    answer: { status: 409, error: 'input_already_answered', details: { inputId: '{input}' } },
  },
  {
    at,
    says: 'an answer that does not fit is 422',
    given: asked,
    ask: { to: 'POST /api/contexts/{context}/inputs/{input}', body: { value: 7 } },
    answer: { status: 422, error: 'input_invalid' },
  },
  {
    at,
    says: 'an answer without a value is 400',
    given: asked,
    ask: { to: 'POST /api/contexts/{context}/inputs/{input}', body: { values: 7 } },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at,
    says: 'an answer to nothing is 404',
    given: waiting,
    ask: { to: 'POST /api/contexts/{context}/inputs/nothing', body: { value: true } },
    answer: { status: 404, error: 'not_found' },
  },
  {
    at,
    says: 'an answer of another tenant is 404',
    given: asked,
    ask: { to: 'POST /api/contexts/{context}/inputs/{input}', body: { value: true }, as: 'zoe' },
    answer: { status: 404, error: 'not_found' },
  },
  {
    at,
    says: 'a fork shares the tasks before a message',
    given: twoTasks,
    ask: { to: 'POST /api/contexts/{context}/fork', body: { before: '{second}' } },
    answer: { status: 201, body: { tasks: 1 } },
  },
  {
    at,
    says: 'a fork before the first task has nothing to share',
    given: twoTasks,
    ask: { to: 'POST /api/contexts/{context}/fork', body: { before: '{first}' } },
    answer: { status: 409, error: 'conflict' },
  },
  {
    at,
    says: 'a fork before an unknown task is 404',
    given: done,
    ask: { to: 'POST /api/contexts/{context}/fork', body: { before: 'run_unknown' } },
    answer: { status: 404, error: 'not_found' },
  },
  {
    at,
    says: 'a fork without a task is 400',
    given: done,
    ask: { to: 'POST /api/contexts/{context}/fork', body: {} },
    answer: { status: 400, error: 'validation_error' },
  },
  {
    at,
    says: 'a fork of the context of another tenant is 404',
    given: twoTasks,
    ask: { to: 'POST /api/contexts/{context}/fork', body: { before: '{second}' }, as: 'zoe' },
    answer: { status: 404, error: 'not_found' },
  },
  {
    at,
    says: 'a fork of tasks that were purged is refused',
    given: purgedFork,
    ask: { to: 'POST /api/contexts/{context}/fork', body: { before: '{last}' } },
    answer: { status: 422, error: 'replay_memory_snapshot_unavailable' },
  },
  {
    at,
    says: 'a message does an ended task again',
    given: twoTasks,
    ask: {
      to: 'POST /api/contexts/{context}/messages',
      body: { message, agentId, retryOf: '{second}' },
      headers: asynchronous,
    },
    answer: { status: 202, body: { contextId: '{context}' } },
  },
  {
    at,
    says: 'a task that is still open is not done again',
    given: waiting,
    ask: { to: 'POST /api/contexts/{context}/messages', body: { message, agentId, retryOf: '{run}' } },
    answer: { status: 409, error: 'conflict', details: { taskId: '{run}' } },
  },
  {
    at,
    says: 'a task of another context is not done again',
    given: twoTasks,
    ask: { to: 'POST /api/messages', body: { message, agentId, retryOf: '{second}' } },
    answer: { status: 404, error: 'not_found' },
  },
];
