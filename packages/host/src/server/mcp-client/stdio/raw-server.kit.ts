/** A program that speaks just enough MCP of 2025, and can misbehave; a test has the host start it; not shipped. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

type Message = { id?: number; method?: string; result?: object; params?: { name?: string; protocolVersion?: string } };

const [mode = ''] = process.argv.slice(2);
const tools = 'env family crash endless flood chatter large noise lie hang learn ask'.split(' ');
let learned = false;
/** The call that waits for a person. */
let asked: number | null = null;

const write = (value: object): void => void process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...value })}\n`);

const acts: Readonly<Record<string, (id: number) => void>> = {
  env: (id) => answer(id, JSON.stringify({ ...process.env, cwd: process.cwd() })),
  family(id) {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    answer(id, JSON.stringify([process.pid, child.pid]));
  },
  crash: () => process.exit(3),
  endless: () => setInterval(() => process.stdout.write('x'.repeat(60_000)), 0),
  flood: () => setInterval(() => process.stdout.write(`{"jsonrpc":"2.0","method":"notifications/x"}\n`.repeat(500)), 0),
  chatter(id) {
    process.stdout.write('{}\n'.repeat(2_500));
    answer(id, 'that was all');
  },
  large: (id) => answer(id, 'x'.repeat(100_000)),
  noise(id) {
    process.stdout.write('Debugger attached.\n\n{"half":\n[]\n');
    process.stderr.write('\u001b[31mred\u001b[0m\n'.repeat(200));
    answer(id, 'still here');
  },
  lie: (id) => answer(id + 1_000, 'for somebody else'),
  hang: () => undefined,
  learn(id) {
    learned = true;
    write({ method: 'notifications/tools/list_changed' });
    answer(id, 'learned');
  },
  learned: (id) => answer(id, 'used'),
  ask(id) {
    asked = id;
    const requestedSchema = { type: 'object', properties: { size: { type: 'string' } } };
    write({ id: 'q', method: 'elicitation/create', params: { message: 'Which size?', requestedSchema } });
  },
};

const answer = (id: number, words: string): void =>
  write({ id, result: { content: [{ type: 'text', text: words }], isError: false } });

function take({ id, method, result, params = {} }: Message): void {
  if (result !== undefined && asked !== null) answer(asked, JSON.stringify(result));
  if (method === 'server/discover' && mode === 'strict') process.exit(1);
  if (id === undefined || method === undefined) return;
  if (method === 'initialize') {
    const serverInfo = { name: 'raw', version: '1' };
    write({ id, result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo } });
  } else if (method === 'tools/list') {
    const named = [...tools, ...(learned ? ['learned'] : [])];
    write({ id, result: { tools: named.map((name) => ({ name, inputSchema: { type: 'object' } })) } });
  } else if (method === 'tools/call') {
    acts[params.name ?? '']?.(id);
  } else {
    write({ id, error: { code: -32601, message: 'no such method' } });
  }
}

process.stderr.write(`started ${mode}\n`);
createInterface({ input: process.stdin }).on('line', (line) => take(JSON.parse(line) as Message));
