/** Assembles the A2A surface. */
import type { Discovery } from '@cairn/protocol';
import type { Route } from '../http/routes.ts';
import { type CardPorts, Cards } from './cards.ts';
import { Pushes, type PushPorts } from './push/pushes.ts';
import type { A2aSurface } from './routes.ts';
import { a2aRoutes } from './routes.ts';
import { A2aTasks, type TaskPorts } from './tasks.ts';
import type { A2aVersion } from './versions.ts';

export type A2aPorts = Omit<A2aSurface, 'cards' | 'tasks' | 'pushes'> &
  Omit<TaskPorts, 'log'> &
  Omit<CardPorts, 'versions'> &
  Omit<PushPorts, 'tasks'>;

export interface A2a {
  readonly routes: readonly Route[];
  /** Sends push notifications from now on. */
  open(): Promise<void>;
  /** Ends all waits. */
  close(): void;
  /** Stops push notifications once no request is served. */
  closePushes(): Promise<void>;
}

export function createA2a(ports: A2aPorts): A2a {
  const tasks = new A2aTasks(ports);
  const cards = new Cards(ports);
  const pushes = new Pushes({ ...ports, tasks });
  return {
    routes: a2aRoutes({ ...ports, tasks, cards, pushes }),
    open: () => pushes.open(),
    close: () => tasks.close(),
    closePushes: () => pushes.close(),
  };
}

const profiles: Readonly<Record<A2aVersion, string>> = { '1.0': 'a2a-1.0', '0.3': 'a2a-0.3-legacy' };

/** What the discovery document says of A2A. */
export function withA2a(document: Discovery, versions: readonly A2aVersion[], baseUrl: string): Discovery {
  const [preferredVersion] = versions;
  if (preferredVersion === undefined) return document;
  const a2a = {
    supported: true,
    agentCardUrl: `${baseUrl}/.well-known/agent-card.json`,
    streaming: true,
    pushNotifications: true,
    durableTasks: true,
    protocolVersions: versions,
    preferredVersion,
    profiles: versions.map((version) => profiles[version]),
  };
  const added = { supportedTransports: ['rest' as const, 'a2a' as const], a2a };
  const { capabilities } = document;
  // The copy that a host in conformance mode gives says the same.
  const copy = typeof capabilities === 'object' ? { capabilities: { ...capabilities, ...added } } : {};
  return { ...document, ...added, ...copy };
}
