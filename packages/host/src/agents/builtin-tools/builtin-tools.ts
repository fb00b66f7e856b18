/** Built-in tools: useful to most agents, and with a limited reach. */
import { isoTime, type JsonObject, TerminalError } from '@cairn/protocol';
import { z } from 'zod';
import { hostTool } from '../tools/define-tool.ts';
import type { Tool } from '../tools/tool.ts';
import { type FilePort, fileTools } from './file-tools.ts';
import { type HttpPort, httpTool } from './http-tool.ts';
import { type MemoryPort, memoryTools } from './memory-tools.ts';

/** The ports that built-in tools use. */
export interface BuiltinToolPorts {
  readonly now: () => number;
  readonly files: FilePort;
  readonly memory: MemoryPort;
  /** Null when the operator configured no permitted addresses: the host then offers no HTTP tool. */
  readonly http: HttpPort | null;
}

export const createBuiltinTools = (ports: BuiltinToolPorts): readonly Tool[] => [
  timeTool(ports.now),
  askTool,
  ...fileTools(ports.files),
  ...memoryTools(ports.memory),
  ...(ports.http === null ? [] : [httpTool(ports.http)]),
];

const timeTool = (now: () => number): Tool =>
  hostTool({
    id: 'openwop:time',
    title: 'Clock',
    description: 'The date and time now, in UTC and, when a time zone is named, as its clocks show it.',
    input: z.strictObject({
      timeZone: z.string().max(64).optional().describe('An IANA time zone, such as Europe/Berlin.'),
    }),
    safety: 'read',
    untrusted: false,
    egress: 'none',
    run({ timeZone }) {
      const at = now();
      return {
        utc: isoTime(at),
        epochMs: at,
        ...(timeZone === undefined ? {} : { timeZone, local: localTime(at, timeZone) }),
      };
    },
  });

function localTime(at: number, timeZone: string): string {
  try {
    return new Intl.DateTimeFormat('en-GB', { timeZone, dateStyle: 'full', timeStyle: 'long' }).format(at);
  } catch {
    throw new TerminalError('tool_invalid_arguments', {
      message: `There is no time zone ${JSON.stringify(timeZone)}; use an IANA name such as Europe/Berlin.`,
    });
  }
}

const askTool: Tool = hostTool({
  id: 'openwop:ask',
  title: 'Ask a person',
  description:
    'Asks a person and waits for the answer, however long it takes. Use it when only they can know or decide; ask one thing at a time.',
  input: z
    .strictObject({
      question: z.string().min(1).max(4000),
      choices: z.array(z.string().min(1).max(200)).min(2).max(50).optional().describe('The answers to choose from.'),
      schema: z.looseObject({}).optional().describe('A JSON Schema that the answer must fit.'),
    })
    .refine(({ choices, schema }) => choices === undefined || schema === undefined, {
      message: 'give choices or a schema, not both',
    }),
  // The call has no side effect before the question is recorded, and the question is asked once.
  safety: 'read',
  untrusted: false,
  egress: 'none',
  run({ question, choices, schema }, { ask }) {
    const wanted = choices === undefined ? (schema as JsonObject | undefined) : { enum: choices };
    return ask({ prompt: question, ...(wanted === undefined ? {} : { schema: wanted }) });
  },
});
