import { createClient } from '@cairn/client';
import { expect, test } from 'vitest';
import { interruptIdOf } from '../../test/kit/payload-ids.ts';
import { below, namedEntry } from './inbox-entries.ts';
import { pathText } from './render/inbox-line.ts';
import { servedCli } from './served-cli.kit.ts';

type Cli = Awaited<ReturnType<typeof servedCli>>;

async function waiting({ cairn }: Cli, workflow: string): Promise<string> {
  return (await cairn(['run', workflow, '--detach'])).out;
}

/** Until the inbox has so many: a run that was just started may not have asked yet. */
async function entries({ cairn }: Cli, count: number): Promise<readonly Record<string, unknown>[]> {
  for (;;) {
    const found: Record<string, unknown>[] = JSON.parse((await cairn(['inbox', '--json'])).out).entries;
    if (found.length === count) return found;
  }
}

test('an empty inbox says so, on stderr', async () => {
  const { cairn } = await servedCli();
  expect(await cairn(['inbox'])).toEqual({ code: 0, out: '', err: 'No question is waiting.' });
});

test('each question is a line with its number, who asks, the way down, and what is asked', async () => {
  const cli = await servedCli();
  await waiting(cli, 'trip');
  await entries(cli, 1);
  await waiting(cli, 'busy-gate');
  await entries(cli, 2);
  const { out, err } = await cli.cairn(['inbox']);
  const lines = out.split('\n');
  expect(lines[0]).toMatch(/^# +FROM +PATH +SINCE +EXPIRES +QUESTION$/);
  expect(lines[1]).toMatch(/^1 +details +trip +(just now|\d+ s ago) +- +Where to\? \/ How long\?$/);
  expect(lines[2]).toMatch(/^2 +gate +busy-gate +(just now|\d+ s ago) +- +Go\?$/);
  expect(err).toBe('answer by number: cairn answer NUMBER');
  expect((await cli.cairn(['inbox', '-n', '1'])).err).toContain('show more: cairn inbox -n 2');
});

test('where npm started the command, hints are written as they have to be typed there', async () => {
  const cli = await servedCli();
  const run = await waiting(cli, 'trip');
  await entries(cli, 1);
  const env = { npm_lifecycle_event: 'npx' };
  expect((await cli.cairn(['inbox'], { env })).err).toBe('answer by number: npx cairn answer 1');
  expect((await cli.cairn(['show', run], { env })).out).toContain(`answer with: npx cairn answer ${run} city=`);
  expect((await cli.cairn(['answer', '9'], { env })).err).toContain('"npx cairn inbox" lists');
});

test('an entry is answered by its number, by run and question, or by its question where only one has it', async () => {
  const cli = await servedCli();
  const run = await waiting(cli, 'trip');
  await entries(cli, 1);
  expect(await cli.cairn(['answer', '1', 'city=Bern', 'nights=3'])).toMatchObject({ code: 0 });
  const [gate] = await waitingGate(cli);
  expect(await cli.cairn(['answer', `${gate?.runId}/${gate?.interruptId}`, 'accept'])).toMatchObject({ code: 0 });
  const [next] = await waitingGate(cli);
  const { out } = await cli.cairn(['answer', String(next?.interruptId), 'accept']);
  expect(out).toContain(`gate is answered; the run ${next?.runId} is`);
  expect((await cli.cairn(['show', run])).out).toContain('completed');
});

async function waitingGate(cli: Cli) {
  await waiting(cli, 'busy-gate');
  return entries(cli, 1);
}

test('a number, a name or a question that nothing waits under is refused by name', async () => {
  const cli = await servedCli();
  expect(await cli.cairn(['answer', '7', 'accept'])).toMatchObject({
    code: 3,
    err: expect.stringContaining('The inbox has no entry 7; it has 0.'),
  });
  const run = await waiting(cli, 'trip');
  await entries(cli, 1);
  expect((await cli.cairn(['answer', '2', 'x'])).err).toContain('The inbox has no entry 2; it has 1.');
  expect((await cli.cairn(['answer', `${run}/int_9_x`, 'x'])).err).toContain('There is no open question');
  expect((await cli.cairn(['answer', 'int_9_x', 'x'])).err).toContain('There is no open question int_9_x.');
});

test('a question that several runs have has to be named with its run', async () => {
  // A fork has the ids of its source.
  const whole = 'run_00000000-0000-7000-8000-00000000000b';
  const entry = (runId: string) => ({ runId, interruptId: 'int_1_0_details', nodeId: 'details', path: [] });
  const inbox = { entries: [entry('run_a'), entry(whole)], nextCursor: null };
  const client = createClient({ url: 'http://host.test', fetch: async () => Response.json(inbox) });
  await expect(namedEntry(client, 'int_1_0_details')).rejects.toThrow('2 runs have an open question');
  expect(await namedEntry(client, `${whole}/int_1_0_details`)).toMatchObject({ runId: whole });
});

test('who is asked here sees what an answer has to be, and is asked again when the host does not take it', async () => {
  const cli = await servedCli();
  await waiting(cli, 'trip');
  await entries(cli, 1);
  const answers = ['Bern', '1.5', 'Bern', '3'];
  const said = await cli.cairn(['answer', '1'], { person: async () => answers.shift() ?? null });
  expect(said.err).toContain('nights  How long?  ({"type":"integer"})');
  expect(said.err.match(/Where to\?/g)).toHaveLength(2);
  expect(said.code).toBe(0);
});

test('the inbox that is watched shows what waits, what comes and what is answered, and ends with Ctrl-C', async () => {
  const cli = await servedCli();
  const first = await waiting(cli, 'trip');
  await entries(cli, 1);
  const lines: string[] = [];
  const heard = new Set<() => void>();
  const says = (text: string) =>
    new Promise<void>((resolve) => {
      const look = () => lines.some((line) => line.includes(text)) && resolve();
      heard.add(look);
      look();
    });
  let interrupt = (): void => undefined;
  const ended = cli.cairn(['inbox', '--watch'], {
    onStart: (press) => {
      interrupt = press;
    },
    onLine: (line) => {
      lines.push(line);
      for (const look of heard) look();
    },
  });
  await says(`cairn answer ${first}/${interruptIdOf(first, 'details')}`);
  const second = await waiting(cli, 'busy-gate');
  await says(`cairn answer ${second}/${interruptIdOf(second, 'gate')}`);
  await cli.cairn(['answer', first, 'city=Bern', 'nights=3']);
  await says('was answered');
  interrupt();
  expect((await ended).code).toBe(130);
});

test('the way down begins with the host that called, whose runs are no runs of this host', async () => {
  const remote = { runId: 'run_a', hostId: 'beta', cause: 'mcp-tool-call' as const };
  const path = [remote, { runId: 'run_b', workflowId: 'gate', nodeId: 'n0' }];
  const own = { runId: 'run_b', interruptId: 'int_1', nodeId: 'n0', workflowId: 'gate' };
  const entry = { ...own, kind: 'approval' as const, title: 'Well?', requestedAt: new Date(0).toISOString(), path };
  expect(pathText(entry)).toBe('beta > gate');
  const list = async () => ({ entries: [entry], nextCursor: null });
  const client = { ...createClient({ url: 'http://127.0.0.1:9' }), inbox: { list, watch: () => expect.fail() } };
  expect(await below(client, 'run_a')).toEqual([]);
});

test('0 is no entry of the inbox, and never the beginning of a run', async () => {
  const cli = await servedCli();
  const runId = await waiting(cli, 'busy-gate');
  const { code, err } = await cli.cairn(['answer', '0', 'accept']);
  expect([code, err]).toEqual([3, expect.stringContaining('The inbox has no entry 0; it begins with 1.')]);
  expect((await cli.cairn(['inbox', '--json'])).out).toContain(runId);
});
