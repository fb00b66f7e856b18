/** The published A2A clients of both versions against a real host. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { all, BETA, dataPart, keys, PeerHost, received, send, stateOf, taskIn, textsOf } from './peer.kit.ts';
import type { A2aVersion } from './versions.ts';

const peer = new PeerHost();
beforeAll(() => peer.start());
afterAll(() => peer.close());

/** A tool that tells when it is at work, and works until it is stopped or told to end. */
function longWork() {
  const begun = Promise.withResolvers<void>();
  const end = Promise.withResolvers<null>();
  peer.work = ({ signal }) => {
    signal.addEventListener('abort', () => end.resolve(null));
    begun.resolve();
    return end.promise;
  };
  return { begun: begun.promise, end: () => end.resolve(null) };
}

const asks = (prompt: string) => {
  peer.work = async (context) => context.ask({ prompt });
};

describe.each<A2aVersion>(['1.0', '0.3'])('a client of %s', (version) => {
  it('finds the host by its card and gets the finished task', async () => {
    const client = await peer.client(version);
    expect(client.protocolVersion).toBe(version);
    const task = taskIn(await client.sendMessage(send(peer.message('Hi.'))));
    expect(stateOf(task)).toBe('TASK_STATE_COMPLETED');
    expect(textsOf(task)).toEqual(['Hello.']);
    expect(task.history[0]?.parts[0]?.content).toEqual({ $case: 'text', value: 'Hi.' });
    expect(task.metadata).toMatchObject({ openwop: { runId: task.id, hostId: 'hosts.example.org/alpha' } });
    const run = await fetch(`${peer.url}/v1/runs/${task.id}`, { headers: { authorization: `Bearer ${keys.ann}` } });
    expect(await run.json()).toMatchObject({ runId: task.id, status: 'completed' });
    expect(await client.getTask({ tenant: '', id: task.id })).toEqual(task);
  });

  it('streams a task: submitted, text as it comes, one end', async () => {
    const client = await peer.client(version);
    const events = await all(client.sendMessageStream(send(peer.message('Hi.'))));
    expect(events[0]?.payload?.$case).toBe('task');
    const { states, texts } = received(events);
    expect(states).toEqual(['SUBMITTED', 'WORKING', 'COMPLETED']);
    expect(texts).toEqual(['Hello.']);
  });

  it('goes on in a context', async () => {
    const client = await peer.client(version);
    const first = taskIn(await client.sendMessage(send(peer.message('Hi.'))));
    const second = taskIn(await client.sendMessage(send(peer.message('Again.', { contextId: first.contextId }))));
    expect(second.contextId).toBe(first.contextId);
    expect(second.id).not.toBe(first.id);
  });

  it('begins a context with an id of its own', async () => {
    const client = await peer.client(version);
    const contextId = `mine-${version}`;
    const message = peer.message('Hi.', { contextId });
    const task = taskIn(await client.sendMessage(send(message)));
    expect(task.contextId).toBe(contextId);
    // The run has the names that the client gave, and so has the history.
    expect(task.history.map(({ messageId }) => messageId)).toEqual([message.messageId]);
    const run = await fetch(`${peer.url}/v1/runs/${task.id}`, { headers: { authorization: `Bearer ${keys.ann}` } });
    expect(await run.json()).toMatchObject({
      tags: [`a2a:${contextId}`],
      metadata: { a2a: { messageId: message.messageId } },
    });
  });

  it('gets an answer at once when it does not wait, follows the task, and cancels it', async () => {
    const { begun } = longWork();
    const client = await peer.client(version, { agentId: 'host:desk' });
    const task = taskIn(await client.sendMessage(send(peer.message('Go.'), true)));
    expect(['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING']).toContain(stateOf(task));
    await begun;
    const following = all(client.resubscribeTask({ tenant: '', id: task.id }));
    const canceled = await client.cancelTask({ tenant: '', id: task.id, metadata: undefined });
    expect(stateOf(canceled)).toBe('TASK_STATE_CANCELED');
    expect(received(await following).states.at(-1)).toBe('CANCELED');
    await expect(client.cancelTask({ tenant: '', id: task.id, metadata: undefined })).rejects.toThrow(/ended already/);
  });

  it('subscribes again after a cut, and misses nothing', async () => {
    const { begun, end } = longWork();
    const client = await peer.client(version, { agentId: 'host:desk' });
    let taskId = '';
    for await (const { payload } of client.sendMessageStream(send(peer.message('Go.')))) {
      if (payload?.$case === 'task') taskId = payload.value.id;
      if (payload?.$case === 'artifactUpdate') break;
    }
    await begun;
    const again = client.resubscribeTask({ tenant: '', id: taskId });
    const { value: first } = await again.next();
    end();
    const rest = await all(again);
    expect(first?.payload).toMatchObject({ $case: 'task', value: { id: taskId } });
    expect(first?.payload?.$case === 'task' ? textsOf(first.payload.value) : []).toEqual(['I look.']);
    expect(received(rest)).toMatchObject({ texts: ['Done.'] });
    expect(received(rest).states.at(-1)).toBe('COMPLETED');
    await expect(all(client.resubscribeTask({ tenant: '', id: taskId }))).rejects.toThrow(/has ended/);
  });

  it('is asked for input, answers with a message, and gets the rest', async () => {
    asks('Which one?');
    const client = await peer.client(version, { agentId: 'host:desk' });
    const events = await all(client.sendMessageStream(send(peer.message('Go.'))));
    const last = events.at(-1)?.payload;
    expect(received(events).states.at(-1)).toBe('INPUT_REQUIRED');
    const taskId = last?.$case === 'statusUpdate' ? last.value.taskId : '';
    const asked = taskIn(await client.getTask({ tenant: '', id: taskId }));
    expect(stateOf(asked)).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(asked.status?.message?.parts[0]?.content).toEqual({ $case: 'text', value: 'Which one?' });
    const done = taskIn(await client.sendMessage(send(peer.message('The red one.', { taskId }))));
    expect(done.id).toBe(taskId);
    expect(stateOf(done)).toBe('TASK_STATE_COMPLETED');
    expect(textsOf(done)).toEqual(['I look.', 'Done.']);
    await expect(client.sendMessage(send(peer.message('More.', { taskId })))).rejects.toThrow(/has ended/);
  });

  it('is asked about a decision that its agent is not sure of, with its words', async () => {
    const client = await peer.client(version, { agentId: 'host:unsure' });
    const events = await all(client.sendMessageStream(send(peer.message('Go.'))));
    expect(received(events).states).toEqual(['SUBMITTED', 'WORKING', 'INPUT_REQUIRED']);
    const last = events.at(-1)?.payload;
    const taskId = last?.$case === 'statusUpdate' ? last.value.taskId : '';
    const words = last?.$case === 'statusUpdate' ? last.value.status?.message?.parts[0]?.content : undefined;
    expect(words).toMatchObject({ $case: 'text', value: 'Confirm the decision.' });
    const read = taskIn(await client.getTask({ tenant: '', id: taskId }));
    expect(read.status?.message?.parts[0]?.content).toEqual(words);
    const sent = taskIn(await client.sendMessage(send(peer.message('Go.'))));
    expect(sent.status?.message?.parts[0]?.content).toEqual(words);
    const answer = peer.message('', { taskId, parts: [dataPart({ action: 'approve' })] });
    expect(stateOf(taskIn(await client.sendMessage(send(answer))))).toBe('TASK_STATE_COMPLETED');
  });

  it('answers in a stream, which begins with the task', async () => {
    asks('Which one?');
    const client = await peer.client(version, { agentId: 'host:desk' });
    const task = taskIn(await client.sendMessage(send(peer.message('Go.'))));
    expect(stateOf(task)).toBe('TASK_STATE_INPUT_REQUIRED');
    const events = await all(client.sendMessageStream(send(peer.message('Red.', { taskId: task.id }))));
    expect(events[0]?.payload).toMatchObject({ $case: 'task', value: { id: task.id } });
    expect(received(events).states.at(-1)).toBe('COMPLETED');
  });

  it.each(['in-turn', 'at-once'])(
    'is asked two things %s, answers in a stream, and is asked what is left',
    async (agentId) => {
      const client = await peer.client(version, { agentId });
      const { id: taskId } = taskIn(await client.sendMessage(send(peer.message('Go.'))));
      const events = await all(client.sendMessageStream(send(peer.message('Red.', { taskId }))));
      expect(received(events).states).toEqual(['INPUT_REQUIRED']);
      const read = taskIn(await client.getTask({ tenant: '', id: taskId }));
      expect(read.status?.message?.parts[0]?.content).toEqual({ $case: 'text', value: 'When?' });
      const done = taskIn(await client.sendMessage(send(peer.message('Now.', { taskId }))));
      expect(stateOf(done)).toBe('TASK_STATE_COMPLETED');
    },
  );

  it('gets what the task asks by now for an answer that it sends again', async () => {
    const client = await peer.client(version, { agentId: 'in-turn' });
    const { id: taskId } = taskIn(await client.sendMessage(send(peer.message('Go.'))));
    const answer = send(peer.message('Red.', { taskId }));
    const asked = taskIn(await client.sendMessage(answer));
    expect(asked.status?.message?.parts[0]?.content).toEqual({ $case: 'text', value: 'When?' });
    expect(taskIn(await client.sendMessage(answer)).status).toEqual(asked.status);
    expect(received(await all(client.sendMessageStream(answer))).states).toEqual(['INPUT_REQUIRED']);
  });

  it('gets the same task for a message that it sends twice, and starts nothing twice', async () => {
    const client = await peer.client(version);
    const message = peer.message('Hi.');
    const [first, second] = await Promise.all([client.sendMessage(send(message)), client.sendMessage(send(message))]);
    expect(taskIn(second).id).toBe(taskIn(first).id);
    const third = await all(client.sendMessageStream(send(message)));
    expect(third[0]?.payload).toMatchObject({ $case: 'task', value: { id: taskIn(first).id } });
    expect(received(third).texts).toEqual(['Hello.']);
    const other = { ...message, parts: peer.message('Something else.').parts };
    await expect(client.sendMessage(send(other))).rejects.toThrow(/was used for another/);
  });

  it('reads the card of its caller, with every agent and workflow as a skill', async () => {
    const client = await peer.client(version);
    const card = await client.getAgentCard();
    expect(card.skills.map(({ id }) => id).toSorted()).toEqual([
      'at-once',
      'gate',
      'host:desk',
      'host:plain',
      'host:unsure',
      'in-turn',
      'note',
    ]);
    expect(card.capabilities?.pushNotifications).toBe(true);
    const other = await (await peer.client(version, { key: keys.looker })).getAgentCard();
    expect(other.skills).toEqual([]);
  });

  it('sends a message to a workflow: data parts are its inputs, text is the one it requires', async () => {
    const client = await peer.client(version, { agentId: 'note' });
    const both = peer.message('Rain.', { contextId: `notes-${version}` });
    const task = taskIn(await client.sendMessage(send({ ...both, parts: [...both.parts, dataPart({ weight: 3 })] })));
    expect(stateOf(task)).toBe('TASK_STATE_COMPLETED');
    expect(task.contextId).toBe(`notes-${version}`);
    const run = await fetch(`${peer.url}/v1/runs/${task.id}`, { headers: { authorization: `Bearer ${keys.ann}` } });
    expect(await run.json()).toMatchObject({ workflowId: 'note', variables: { about: 'Rain.', weight: 3 } });
    const outputs = [{ $case: 'data', value: { about: 'Rain.', weight: 3 } }];
    expect(task.artifacts.map(({ parts }) => parts.map(({ content }) => content))).toEqual([outputs]);
    const events = await all(client.sendMessageStream(send(peer.message('Snow.'))));
    expect(events.map(({ payload }) => payload?.$case).slice(-2)).toEqual(['artifactUpdate', 'statusUpdate']);
    expect(received(events).states.at(-1)).toBe('COMPLETED');
    const unknown = peer.message('', { parts: [dataPart({ colour: 'red' })] });
    await expect(client.sendMessage(send(unknown))).rejects.toThrow(/colour|about/);
    const taken = peer.message('Again.', { parts: [...peer.message('x').parts, dataPart({ about: 'y' })] });
    await expect(client.sendMessage(send(taken))).rejects.toThrow(/about, weight/);
  });

  it('gets the files and records of a task as artifacts', async () => {
    peer.work = async (context) => {
      const file = context.file('report.md', { mimeType: 'text/markdown' });
      await file.write('# All ');
      await file.write('good');
      await file.close();
      await context.data('totals', { sum: 3 });
      return null;
    };
    const client = await peer.client(version, { agentId: 'host:desk' });
    const task = taskIn(await client.sendMessage(send(peer.message('Go.'))));
    expect(textsOf(task)).toContain('# All good');
    const totals = task.artifacts.find(({ name }) => name === 'totals');
    expect(totals?.parts[0]?.content).toEqual({ $case: 'data', value: { sum: 3 } });
  });
});

it('an approval takes data, never text', async () => {
  const { runId } = await peer.host.engine.start({ tenant: 't', workflowId: 'gate', inputs: {}, options: {} });
  const client = await peer.client('1.0');
  for (const text of ['accept', 'yes', 'true', '{"action":"accept"}']) {
    await expect(client.sendMessage(send(peer.message(text, { taskId: runId })))).rejects.toThrow();
  }
  expect(stateOf(await client.getTask({ tenant: '', id: runId }))).toBe('TASK_STATE_INPUT_REQUIRED');
  const accepted = peer.message('', { taskId: runId, parts: [dataPart({ action: 'accept' })] });
  expect(stateOf(taskIn(await client.sendMessage(send(accepted))))).toBe('TASK_STATE_COMPLETED');
});

it('tasks are listed by state and context, the newest first, page by page', async () => {
  const client = await peer.client('1.0');
  const query = { tenant: '', status: 0, pageToken: '', statusTimestampAfter: undefined };
  const contextId = 'listed';
  const ids: string[] = [];
  for (const text of ['1', '2', '3']) {
    ids.unshift(taskIn(await client.sendMessage(send(peer.message(text, { contextId })))).id);
  }
  const first = await client.listTasks({ ...query, contextId, pageSize: 2 });
  expect(first.tasks.map(({ id }) => id)).toEqual(ids.slice(0, 2));
  const second = await client.listTasks({ ...query, contextId, pageSize: 2, pageToken: first.nextPageToken });
  expect(second.tasks.map(({ id }) => id)).toEqual(ids.slice(2));
  expect(second.nextPageToken).toBe('');
  const whole = await client.listTasks({ ...query, contextId, pageSize: 1, includeArtifacts: true });
  expect(whole.tasks[0] && textsOf(whole.tasks[0])).toEqual(['Hello.']);
  const working = await client.listTasks({ ...query, contextId, status: 2 });
  expect(working.tasks).toEqual([]);
});

it('a run of another host is the parent of the task that its message starts, and so is its trace', async () => {
  const parent = { runId: 'run_far', hostId: BETA, wellKnownUrl: 'https://beta.example.org/.well-known/openwop' };
  const causation = { ...parent, eventId: 'run_far:7' };
  const traceId = '0af7651916cd43dd8448eb211c80319c';
  const openwop = { causation, traceparent: `00-${traceId}-b7ad6b7169203331-01`, tracestate: 'a=b' };
  const started = async (key: string, metadata: object) => {
    const client = await peer.client('1.0', { key });
    const { id } = taskIn(await client.sendMessage(send(peer.message('Hi.', { metadata }))));
    const ask = (path: string) =>
      fetch(`${peer.url}/v1/runs/${id}${path}`, { headers: { authorization: `Bearer ${key}` } });
    const ancestry = (await (await ask('/ancestry')).json()) as { parent: object | null };
    return { ancestry, events: await (await ask('/events')).text() };
  };
  const trusted = await started(keys.beta, { openwop });
  expect(trusted.ancestry).toMatchObject({
    hostId: 'hosts.example.org/alpha',
    parent: { ...parent, cause: 'a2a-message' },
  });
  expect(trusted.events).toContain(traceId);
  // Ann's key is not that of a host, so what she says of one counts for nothing.
  expect((await started(keys.ann, { openwop })).ancestry.parent).toBe(null);
  expect((await started(keys.ann, { openwop: { traceparent: 'garbage' } })).ancestry.parent).toBe(null);
});

it('a task survives a restart: the same task, and its stream goes on', async () => {
  const { begun } = longWork();
  const before = await peer.client('1.0', { agentId: 'host:desk' });
  const { id } = taskIn(await before.sendMessage(send(peer.message('Go.'), true)));
  await begun;
  await peer.stop();
  peer.work = async () => null;
  await peer.start();
  const after = await peer.client('1.0');
  for (;;) {
    const task = await after.getTask({ tenant: '', id });
    if (stateOf(task) === 'TASK_STATE_COMPLETED') {
      expect(textsOf(task)).toEqual(['I look.', 'Done.']);
      return;
    }
    await all(after.resubscribeTask({ tenant: '', id })).catch(() => undefined);
  }
});
