/** The messages of the SDK's client as lines of a process. The process belongs to its caller. */
import {
  type JSONRPCMessage,
  parseJSONRPCMessage,
  serializeMessage,
  type Transport,
} from '@modelcontextprotocol/client';
import type { ServerProcess } from './server-process.ts';

/** The SDK tells a transport over pipes by `pid` and `stderr`: silence there means an older revision, no outage. */
export class StdioTransport implements Transport {
  readonly stderr = null;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  #process: Pick<ServerProcess, 'pid' | 'write'> | null = null;

  attach(process: Pick<ServerProcess, 'pid' | 'write'>): void {
    this.#process = process;
  }

  get pid(): number | null {
    return this.#process?.pid ?? null;
  }

  /** What is no message is left out: programs also print other lines. */
  take(line: string): void {
    try {
      const message = parseJSONRPCMessage(JSON.parse(line));
      // The client reads a notification a moment later, and a result at once: progress in the same bytes would be lost.
      if ('method' in message) this.onmessage?.(message);
      else setImmediate(() => this.onmessage?.(message));
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error('No message.'));
    }
  }

  /** The process is over: requests that are open fail, after those that it answered. */
  ended(): void {
    setImmediate(() => this.onclose?.());
  }

  async start(): Promise<void> {
    // The process runs.
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.#process?.write(serializeMessage(message));
  }

  async close(): Promise<void> {
    this.onclose?.();
  }
}
