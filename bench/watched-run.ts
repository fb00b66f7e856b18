/**
 * One run as a user's program sees it: created, then watched to its end over `node:http`. Parses and checks each event.
 */
import { type Agent, type IncomingMessage, request } from 'node:http';
import { isTerminalType, type RunEventDoc, TerminalError } from '@cairn/protocol';

export interface Target {
  readonly port: number;
  readonly key: string;
}

/**
 * Creates a run and reads its stream until the server ends it. Throws when an event is lost, repeated or out of order.
 */
export async function watchRun(agent: Agent, target: Target, workflowId: string): Promise<void> {
  const body = JSON.stringify({ workflowId, inputs: {} });
  const created = await send(agent, target, { method: 'POST', path: '/v1/runs', status: 201, body });
  const { runId } = JSON.parse(await textOf(created)) as { readonly runId: string };
  const watcher = new Watcher();
  const stream = await send(agent, target, {
    method: 'GET',
    path: `/v1/runs/${runId}/events?streamMode=debug`,
    status: 200,
  });
  stream.setEncoding('utf8');
  await new Promise<void>((resolve, reject) => {
    stream.on('data', (text: string) => {
      try {
        watcher.take(text);
      } catch (error) {
        reject(error);
      }
    });
    stream.on('end', resolve);
    stream.on('error', reject);
  });
  watcher.finish(runId);
}

class Watcher {
  #text = '';
  #last: RunEventDoc | null = null;

  take(text: string): void {
    this.#text += text;
    for (let end = this.#text.indexOf('\n\n'); end >= 0; end = this.#text.indexOf('\n\n')) {
      const frame = this.#text.slice(0, end);
      this.#text = this.#text.slice(end + 2);
      const data = frame.indexOf('\ndata: ');
      if (data >= 0) this.#see(JSON.parse(frame.slice(data + 7)) as RunEventDoc);
    }
  }

  /** Operator rows are hidden from this client, so the sequence may have gaps, but it never decreases. */
  #see(event: RunEventDoc): void {
    const isNext = this.#last === null ? event.sequence === 0 : event.sequence > this.#last.sequence;
    if (!isNext) throw wrong(`event ${event.sequence} came after ${this.#last?.sequence ?? 'nothing'}`);
    if (this.#last !== null && isTerminalType(this.#last.type)) throw wrong(`${event.type} came after the end`);
    this.#last = event;
  }

  finish(runId: string): void {
    if (this.#last?.type !== 'run.completed') throw wrong(`the stream of ${runId} ended with ${this.#last?.type}`);
  }
}

interface Ask {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly status: number;
  readonly body?: string;
}

function send(agent: Agent, { port, key }: Target, { method, path, status, body }: Ask): Promise<IncomingMessage> {
  const content = body === undefined ? { accept: 'text/event-stream' } : { 'content-type': 'application/json' };
  const headers = { authorization: `Bearer ${key}`, ...content };
  return new Promise((resolve, reject) => {
    const sent = request({ agent, host: '127.0.0.1', port, method, path, headers }, (answer) => {
      if (answer.statusCode === status) resolve(answer);
      else reject(wrong(`${path} answered ${answer.statusCode} instead of ${status}`));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

async function textOf(message: IncomingMessage): Promise<string> {
  let text = '';
  for await (const part of message.setEncoding('utf8')) text += part;
  return text;
}

const wrong = (message: string) =>
  new TerminalError('internal_error', { message, hint: 'See what the server wrote on stderr.' });
