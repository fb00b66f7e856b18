/** What a server writes to its standard error, as notices: escaped, cut, and so many in a minute. */
import type { Report } from '../../../engine/ports.ts';
import { escapeText } from '../../../escape-text.ts';
import { TokenBuckets } from '../../../token-buckets.ts';
import { LineSplitter } from './line-splitter.ts';

/** Longest line, in bytes. */
const MAX_LINE = 2_000;
const LINES_PER_MINUTE = 60;

export interface StderrPorts {
  readonly report: Report;
  readonly now: () => number;
}

/** Outlives the processes of a server, so that a restart brings no new allowance. */
export class StderrLog {
  readonly #server: string;
  readonly #ports: StderrPorts;
  readonly #allowance: TokenBuckets;
  #dropped = 0;

  constructor(server: string, ports: StderrPorts) {
    this.#server = server;
    this.#ports = ports;
    this.#allowance = new TokenBuckets({ perSecond: LINES_PER_MINUTE / 60, burst: LINES_PER_MINUTE, now: ports.now });
  }

  /** Takes what one process writes. */
  ofProcess(): LineSplitter {
    return new LineSplitter({
      maxBytes: MAX_LINE,
      line: (text) => this.#tell(text),
      tooLong: (begin) => this.#tell(`${begin}…`),
    });
  }

  #tell(text: string): void {
    if (text.trim() === '') return;
    if (this.#allowance.take('') > 0) {
      this.#dropped += 1;
      return;
    }
    const facts = {
      server: this.#server,
      line: escapeText(text),
      ...(this.#dropped > 0 && { dropped: this.#dropped }),
    };
    this.#dropped = 0;
    this.#ports.report({ level: 'info', event: 'mcp.stderr', facts });
  }
}
