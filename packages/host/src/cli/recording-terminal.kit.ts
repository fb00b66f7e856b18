/** A terminal for tests: runs one command line and records its output. Not shipped. */
import { program } from './program.ts';
import type { Terminal } from './terminal.ts';

export interface Typed {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Answers questions; without it the terminal is not interactive. */
  readonly person?: (question: string, signal: AbortSignal) => Promise<string | null>;
  readonly columns?: number;
  /** The clock of the terminal. */
  readonly now?: () => number;
  readonly colours?: boolean;
  /** Receives a function that presses Ctrl-C. */
  readonly onStart?: (interrupt: () => void) => void;
  /** Called for each line. */
  readonly onLine?: (line: string) => void;
}

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs one command line in this process. The code is null while a verb keeps running a host. */
export async function typed(args: readonly string[], how: Typed = {}): Promise<Ended> {
  const said = { out: '', err: '' };
  let code: number | null = null;
  const handles: (() => void)[] = [];
  const { colours = false, onLine = () => undefined } = how;
  const terminal: Terminal = {
    version: '1.2.3',
    argv: ['node', 'cairn', ...args],
    env: how.env ?? {},
    cwd: how.cwd ?? '/',
    columns: how.columns ?? null,
    colours: { out: colours, err: colours },
    isInteractive: how.person !== undefined,
    now: how.now ?? (() => Date.now()),
    print: (line) => {
      said.out += `${line}\n`;
      onLine(line);
    },
    tell: (line) => {
      said.err += `${line}\n`;
      onLine(line);
    },
    part: (stream, text) => {
      said[stream] += text;
    },
    redraw: (line) => onLine(line),
    ask: how.person ?? (() => Promise.resolve(null)),
    exit: (given) => {
      code ??= given;
    },
    onSignal: (handle) => handles.push(handle),
    onRejection: () => () => undefined,
  };
  how.onStart?.(() => {
    for (const handle of handles) handle();
  });
  await program(terminal);
  return { code, out: withoutEnd(said.out), err: withoutEnd(said.err) };
}

const withoutEnd = (text: string): string => text.replace(/\n$/, '');
