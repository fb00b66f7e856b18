/** The load generator trusts this connection to know where a reply ends; node:http says what is right. */
import { createServer, type Server, type ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { portOf } from '../packages/host/test/kit/port-of.ts';
import { present } from '../packages/host/test/kit/present.ts';
import { HttpConnection, requestText } from './http-connection.ts';

const open: { server: Server; connection: HttpConnection }[] = [];

afterEach(() => {
  for (const { server, connection } of open.splice(0)) {
    connection.close();
    server.close();
  }
});

async function connectionTo(answer: (response: ServerResponse, url: string) => void): Promise<HttpConnection> {
  const server = createServer((request, response) => answer(response, present(request.url)));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const connection = new HttpConnection(portOf(server));
  open.push({ server, connection });
  return connection;
}

const get = (path: string) => requestText({ method: 'GET', path, key: 'k' });

describe('a kept-alive connection', () => {
  it('reads a body of known length, and then the next one', async () => {
    const connection = await connectionTo((response, url) => {
      response.writeHead(201, { 'content-length': url.length }).end(url);
    });
    expect(await connection.send(get('/first'))).toEqual({ status: 201, body: '/first' });
    expect(await connection.send(get('/second-one'))).toEqual({ status: 201, body: '/second-one' });
  });

  it('reads a chunked body to its last chunk, written in one piece or many', async () => {
    const frames = Array.from({ length: 10 }, (_, n) => `id: ${n}\ndata: {"n":${n}0}\n\n`);
    const connection = await connectionTo((response, url) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      if (url === '/whole') return void response.end(frames.join(''));
      const writeNext = () => {
        const frame = frames.shift();
        if (frame === undefined) response.end();
        else response.write(frame, () => setImmediate(writeNext));
      };
      writeNext();
    });
    for (const path of ['/whole', '/pieces']) {
      const reply = await connection.send(get(path));
      expect(reply.body.match(/^data: /gm)).toHaveLength(10);
      expect(reply.body.endsWith('0\r\n\r\n')).toBe(true);
    }
  });

  it('hands the body over as it arrives and keeps nothing when asked to', async () => {
    const connection = await connectionTo((response) => response.end('x'.repeat(300_000)));
    let bytes = 0;
    const reply = await connection.send(get('/'), (part) => {
      bytes += part.length;
    });
    expect(reply.body).toBe('');
    expect(bytes).toBeGreaterThanOrEqual(300_000);
  });

  it('says so when the server goes away in the middle', async () => {
    const connection = await connectionTo((response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('half', () => response.destroy());
    });
    await expect(connection.send(get('/'))).rejects.toThrow('in the middle of a reply');
  });
});
