/**
 * A minimal equivalent of a browser's EventSource: reads frames, remembers the last id, and reconnects with it when
 * cut.
 */
import { request } from 'node:http';
import { StringDecoder } from 'node:string_decoder';
import { isTerminalType, type RunEventDoc } from '@cairn/protocol';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { KEY } from './stream-host.ts';

export interface BareReader {
  readonly port: number;
  readonly path: string;
  /** Called with each event as it arrives, so that a repeat or a gap is visible. */
  readonly seen: (event: RunEventDoc) => void;
}

/** Resolves once the connection that delivered the terminal event ends. */
export async function readBare({ port, path, seen }: BareReader): Promise<void> {
  let lastId = '';
  let over = false;
  const take = ({ id, event, data }: EventSourceMessage) => {
    if (id !== undefined) lastId = id;
    const events: RunEventDoc[] = event === 'batch' ? JSON.parse(data) : [JSON.parse(data)];
    for (const one of events) {
      seen(one);
      over ||= isTerminalType(one.type);
    }
  };
  while (!over) await oneConnection(port, path, lastId, take);
}

/** Resolves however the connection ends. A partial frame is discarded, as the standard requires. */
function oneConnection(
  port: number,
  path: string,
  lastId: string,
  take: (message: EventSourceMessage) => void,
): Promise<void> {
  const headers = {
    authorization: `Bearer ${KEY}`,
    accept: 'text/event-stream',
    ...(lastId === '' ? {} : { 'last-event-id': lastId }),
  };
  return new Promise((resolve) => {
    const asked = request({ port, host: '127.0.0.1', path, headers, agent: false }, (response) => {
      const parser = createParser({ onEvent: take });
      const decoder = new StringDecoder('utf8');
      response.on('data', (bytes: Buffer) => parser.feed(decoder.write(bytes)));
      response.on('error', () => undefined);
      response.on('close', resolve);
    });
    asked.on('error', () => resolve());
    asked.end();
  });
}
