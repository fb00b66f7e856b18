/** A process that starts an MCP server as a host does, and is then killed; not shipped. */
import { LineSplitter } from './line-splitter.ts';
import { ServerProcess } from './server-process.ts';

const [program = ''] = process.argv.slice(2);
const server = new ServerProcess(
  {
    ...{
      id: 'raw',
      needs: [],
      trustAnnotations: false,
      listEveryMs: 1,
      timeoutMs: 1,
      answerTimeoutMs: 1,
      maxResponseBytes: 1_000_000,
    },
    ...{ maxCallsAtOnce: 1, maxTenantCallsAtOnce: 1, env: {}, cwd: undefined },
    ...{ command: process.execPath, args: [program] },
  },
  {
    line: () => void process.stdout.write(`${server.pid}\n`),
    bytes: () => undefined,
    stderr: new LineSplitter({ maxBytes: 1_000, line: () => undefined, tooLong: () => undefined }),
    over: () => undefined,
  },
);
server.write('{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n');
