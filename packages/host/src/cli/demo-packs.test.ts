/** The packs that `cairn dev` brings: sound, complete, and each runs on its own script. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject, WorkflowDefinition } from '@cairn/protocol';
import { expect, onTestFinished, test } from 'vitest';
import { lintPack } from '../agents/packs/check-pack.ts';
import { readPackFolder } from '../agents/packs/folder.ts';
import { inMemoryStore } from '../log/in-memory/store.ts';
import { scopes } from '../server/access/auth.ts';
import { createHostOver } from '../server/create-host.ts';
import { DEMO_AGENT, demoPacks } from './demo-packs.ts';
import { type Ended, type Typed, typed } from './recording-terminal.kit.ts';

const key = 'a-key-for-the-demo-packs';
const packs = readdirSync(demoPacks, { withFileTypes: true }).filter((entry) => entry.isDirectory());

async function opened(): Promise<string> {
  const data = mkdtempSync(join(tmpdir(), 'cairn-demo-'));
  onTestFinished(() => rmSync(data, { recursive: true, force: true }));
  const host = await createHostOver(inMemoryStore(), {
    config: {
      port: 0,
      data,
      keys: [{ key, tenant: 'dev', principal: 'ada', scopes: [...scopes] }],
      packs: { folders: [demoPacks] },
    },
    allowUnsignedPacks: true,
    report: () => undefined,
  });
  onTestFinished(() => host.close());
  return host.url ?? '';
}

async function served(): Promise<(args: readonly string[], how?: Typed) => Promise<Ended>> {
  const url = await opened();
  return (args, how) => typed(args, { ...how, env: { CAIRN_URL: url, CAIRN_KEY: key } });
}

test.each(packs.map(({ name }) => name))(
  '%s is sound, and every agent of it has a prompt and a script',
  async (name) => {
    const files = await readPackFolder(join(demoPacks, name));
    const { manifest } = lintPack(files);
    const agentIds = (manifest.agents ?? []).map(({ agentId }) => agentId);
    for (const agentId of agentIds) {
      const last = agentId.split('.').at(-1) ?? '';
      expect([...files.keys()]).toEqual(expect.arrayContaining([`prompts/${last}.md`, `rehearsals/${last}.json`]));
    }
    const workflows = [...files.keys()].filter((path) => path.startsWith('workflows/'));
    const nodes = workflows.flatMap((path) => (JSON.parse(String(files.get(path))) as WorkflowDefinition).nodes);
    const named = nodes.flatMap(({ agent }) => agent?.agentId ?? []);
    expect(named.length).toBeGreaterThan(0);
    expect(agentIds).toEqual(expect.arrayContaining(named));
  },
);

test('the research crew works on the topic it is given, and leaves a brief', async () => {
  const cairn = await served();
  const { code, out, err } = await cairn(['run', 'research-crew', '--input', 'topic=sea "walls"']);
  expect(code).toBe(0);
  expect(JSON.parse(out).content).toContain('# sea "walls"');
  const told = [/● Planner/, /hands over to Researcher/, /● Researcher/, /→ openwop:fs\.write {2}path=notes\.md/];
  let from = 0;
  for (const line of [...told, /● Writer/, /path=brief\.md/, /\d+ turns, \d+ tool calls/, /✓ completed/]) {
    const at = err.slice(from).search(line);
    expect([line, at]).toEqual([line, expect.any(Number)]);
    expect(at).toBeGreaterThanOrEqual(0);
    from += at;
  }
  expect(err).not.toContain('✗');
});

test('on a narrow screen no line of the crew is wider than the screen, and no word is lost', async () => {
  const cairn = await served();
  const { err } = await cairn(['run', 'research-crew', '--input', 'topic=tides'], { columns: 40, colours: true });
  const { stripVTControlCharacters } = await import('node:util');
  const plain = stripVTControlCharacters(err);
  const told = plain.split('\n').filter((line) => line.startsWith('    '));
  expect(told.length).toBeGreaterThan(40);
  for (const line of told) expect(line.length).toBeLessThanOrEqual(40);
  expect(plain.replace(/\s+┊?\s*/g, ' ')).toContain('Three questions that can be looked up are enough.');
});

test('the triage is unsure, a person decides, and the answer goes by what they said', async () => {
  const cairn = await served();
  const waiting = await cairn(['run', 'support-triage']);
  expect(waiting.code).toBe(5);
  expect(waiting.err).toContain('triage is unsure of its decision (approve, edit, reject)');
  expect(waiting.err).toContain('confidence 0.55, below the threshold of 0.75');
  const runId = /cairn answer (\S+) approve/.exec(waiting.err)?.[1] ?? '';
  const edited = { action: 'edit', decision: { queue: 'billing', priority: 'normal', reason: 'It is about credits.' } };
  expect((await cairn(['answer', runId, '--value', JSON.stringify(edited)])).code).toBe(0);
  await cairn(['tail', runId]);
  expect((await cairn(['show', runId])).out).toContain('queue billing with the priority normal');
});

test('rejected, the triage decides again; a decision of another shape is refused, and the question stays', async () => {
  const cairn = await served();
  const said: string[] = [];
  const answers = ['reject', 'Credits come first.'];
  const person = async (prompt: string) => {
    said.push(prompt.trim());
    return answers.shift() ?? null;
  };
  const { code, out } = await cairn(['run', 'support-triage'], { person });
  expect(code).toBe(0);
  expect(said).toEqual(['approve / edit / reject >', 'reason, or what to change (Enter to skip) >']);
  expect(JSON.parse(out).content).toContain('queue billing with the priority high');
  const waiting = await cairn(['run', 'support-triage']);
  const runId = /cairn answer (\S+) approve/.exec(waiting.err)?.[1] ?? '';
  const refused = await cairn(['answer', runId, '--value', '{"action":"edit","decision":{"queue":"nowhere"}}']);
  expect(refused.code).not.toBe(0);
  expect(refused.err).toContain('does not fit');
  expect((await cairn(['answer', runId, 'approve'])).code).toBe(0);
});

test('tail tells what agents did and how to answer; with --types or --json it shows their events as they are', async () => {
  const cairn = await served();
  const runId = (await cairn(['run', 'support-triage', '--detach'])).out;
  await cairn(['run', 'support-triage'], { person: async () => 'reject' });
  const { out } = await cairn(['tail', runId, '--no-follow']);
  expect(out).toMatch(/^ +0 {2}\S+ {2}run\.started/m);
  expect(out).toContain('◆ decides {"priority":"high"');
  expect(out).toContain(`answer with: cairn answer ${runId} approve`);
  expect(out).not.toContain('agent.reasoning.delta');
  const rows = (await cairn(['tail', runId, '--no-follow', '--types', 'agent'])).out.split('\n');
  expect(rows.filter((row) => row.includes('agent.reasoning.delta')).length).toBeGreaterThan(10);
  const [first = ''] = (await cairn(['tail', runId, '--no-follow', '--json', '--types', 'agent'])).out.split('\n');
  expect(JSON.parse(first)).toMatchObject({ type: 'agent.invocation.started' });
});

test('the review is data in the shape of its schema', async () => {
  const cairn = await served();
  const { code, out } = await cairn(['run', 'code-review', '--input', 'title=Count pages']);
  expect(code).toBe(0);
  const { result }: { readonly result: JsonObject } = JSON.parse(out);
  expect(result).toMatchObject({
    verdict: 'request-changes',
    findings: [{ severity: 'major' }, { severity: 'minor' }],
  });
  expect(result.summary).toContain('Count pages');
});

test('a task of another shape is refused before any agent sees it', async () => {
  const cairn = await served();
  const { code, err } = await cairn(['run', 'research-crew', '--input', 'topic=']);
  expect(code).toBe(1);
  expect(err).toContain('handoff_task_schema_violation');
  expect(err).not.toContain('Planner');
});

test('the page of the packs leads to each of them', () => {
  const page = readFileSync(join(demoPacks, 'README.md'), 'utf8');
  for (const { name } of packs) expect(page).toContain(`(${name}/README.md)`);
});

test('the page of the command line names a workflow of each of them', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../../docs/reference/cli.md'), 'utf8');
  for (const { name } of packs) {
    const workflows = readdirSync(join(demoPacks, name, 'workflows')).map((file) => file.replace('.json', ''));
    expect([name, workflows.some((workflow) => page.includes(`\`${workflow}\``))]).toEqual([name, true]);
  }
});

test('the newsroom asks here what a run two below it asks, and goes on once that is answered elsewhere', async () => {
  const cairn = await served();
  const asked = Promise.withResolvers<AbortSignal>();
  const person = (_prompt: string, signal: AbortSignal) => {
    asked.resolve(signal);
    return new Promise<null>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  };
  const running = cairn(['run', 'newsroom', '--input', 'story=The new bridge'], { person });
  const signal = await asked.promise;
  const [entry] = JSON.parse((await cairn(['inbox', '--json'])).out).entries;
  expect(`${entry.runId}/${entry.interruptId}`).toMatch(/^run_\S+\.2\.0\/int_[0-9a-f]{12}_0_work$/);
  expect((await cairn(['answer', '1', 'by name'])).code).toBe(0);
  const { code, out, err } = await running;
  expect([code, signal.aborted]).toEqual([0, true]);
  expect(JSON.parse(out).content).toContain('The witness may be quoted by name.');
  expect(err).toContain('A witness told us about "The new bridge". How may they be quoted?');
  expect(err).toMatch(/↳ newsroom-interview {2}run_\S+\.2\.0\n\? work asks:/);
});

test('without a person the newsroom ends with 5, and says how to answer the run two below it', async () => {
  const cairn = await served();
  const { code, err } = await cairn(['run', 'newsroom', '--input', 'story=The new bridge']);
  expect(code).toBe(5);
  expect(err).toContain('? work asks: A witness told us about "The new bridge". How may they be quoted?');
  expect(err).toContain('newsroom > newsroom-reporting > newsroom-interview');
  expect(err).toMatch(/answer with: cairn answer run_\S+\.2\.0\/int_[0-9a-f]{12}_0_work /);
});

test('the agent for messages that name none answers with the words of the message', async () => {
  const cairn = await served();
  const { code, out } = await cairn(['run', DEMO_AGENT, '--input', 'message=My parcel is late.']);
  expect(code).toBe(0);
  expect(JSON.parse(out).content).toContain('You say: "My parcel is late."');
});

test('the demo agent takes tools that the page executes', async () => {
  const url = await opened();
  const tools = [{ name: 'pick_color', description: 'Lets the user pick.', parameters: { type: 'object' } }];
  const response = await fetch(`${url}/api/messages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', prefer: 'respond-async' },
    body: JSON.stringify({ agentId: DEMO_AGENT, message: { role: 'user', content: 'Paint it.' }, tools }),
  });
  expect(response.status).toBe(202);
});
