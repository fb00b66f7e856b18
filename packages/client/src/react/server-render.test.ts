import { createElement } from 'react';
import { renderToString } from 'react-dom/server';
import { expect, test } from 'vitest';
import { createClient } from '../context/index.ts';
import { useConversation, useInbox, useRun } from './index.ts';

test('hooks render on a server: what is not known yet, and without a connection', () => {
  const client = createClient({
    url: 'http://127.0.0.1:1',
    fetch: () => {
      throw new Error('A server must not connect.');
    },
  });
  const Page = () => {
    const { status, isLoading, connection } = useConversation(client, 'ctx_a');
    const { contextId } = useConversation(client);
    return JSON.stringify([
      status,
      isLoading,
      connection,
      contextId,
      useRun(client, 'run_a').run,
      useInbox(client).entries,
    ]);
  };
  const html = renderToString(createElement(Page)).replaceAll('&quot;', '"');
  expect(JSON.parse(html)).toEqual(['idle', true, 'idle', null, null, null]);
});
