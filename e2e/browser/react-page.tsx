/** A page with the hooks of the client, for a test that watches what renders. */
import { createClient } from '@cairn/client/context';
import { type LiveConversation, useConversation, useEntry, useInbox, useRun } from '@cairn/client/react';
import { memo, StrictMode } from 'react';
import { createRoot, type Root } from 'react-dom/client';

let root: Root | null = null;

/** How often each message was rendered. */
export const renders: Record<string, number> = {};

const Line = memo(({ conversation, id }: { readonly conversation: LiveConversation; readonly id: string }) => {
  const message = useEntry(conversation, 'messages', id);
  renders[id] = (renders[id] ?? 0) + 1;
  return <li>{message?.text}</li>;
});

type Client = ReturnType<typeof createClient>;

function Talk({
  client,
  contextId,
  name,
}: {
  readonly client: Client;
  readonly contextId: string;
  readonly name: string;
}) {
  const { state, conversation, connection } = useConversation(client, contextId);
  const ids = state.roots.flatMap((root) => state.tasks.get(root)?.items ?? []).map(({ id }) => id);
  return (
    <section id={name} data-is={connection}>
      <ol>
        {ids.map((id) => (
          <Line key={id} conversation={conversation} id={id} />
        ))}
      </ol>
    </section>
  );
}

export function showTalk(contextId: string): void {
  const client = createClient({ url: location.origin });
  root = createRoot(document.body);
  root.render(
    <StrictMode>
      <Talk client={client} contextId={contextId} name="one" />
      <Talk client={client} contextId={contextId} name="two" />
    </StrictMode>,
  );
}

function Desk({ client, runId }: { readonly client: Client; readonly runId: string }) {
  const { run, connection } = useRun(client, runId);
  const { entries } = useInbox(client);
  return (
    <>
      <output id="run">{`${run?.status} ${connection}`}</output>
      <output id="inbox">{entries?.map(({ title }) => title).join()}</output>
    </>
  );
}

export function showDesk(url: string, key: string, runId: string): void {
  const client = createClient({ url, key });
  root = createRoot(document.body);
  root.render(
    <StrictMode>
      <Desk client={client} runId={runId} />
    </StrictMode>,
  );
}

/** How often each run was followed. */
export const watched: Record<string, number> = {};

/** Says once that a run is at work. */
const workers: Pick<Client, 'watch'> = {
  async *watch(runId, { signal } = {}) {
    watched[runId] = (watched[runId] ?? 0) + 1;
    yield { runId, status: 'running' } as never;
    await new Promise((resolve) => signal?.addEventListener('abort', resolve));
  },
};

function Row({ runId }: { readonly runId: string }) {
  return <li>{useRun(workers, runId).run?.status}</li>;
}

export function showRuns(count: number): void {
  root = createRoot(document.body);
  root.render(
    <StrictMode>
      {Array.from({ length: count }, (_, n) => `run_${n}`).map((runId) => (
        <Row key={runId} runId={runId} />
      ))}
    </StrictMode>,
  );
}

export const unmount = (): void => root?.unmount();
