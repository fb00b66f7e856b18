/**
 * The context of a conversation that a front end named itself: a chat or a thread. Two tenants may use the same name, so
 * the context has an id that follows from both the tenant and the name. The id of a context of the tenant names that
 * context itself.
 */
import { hash } from 'node:crypto';
import { type ContextId, contextId } from '@cairn/protocol';
import { contextNotFound } from '../../engine/loading/run-loader.ts';
import type { Contexts } from '../../log/ports/contexts.ts';
import type { Caller } from '../access/auth.ts';

/** Hex digits: 128 bits. */
const DERIVED = 32;

/** The name, and what front ends of this kind call a conversation. */
export interface ClientName {
  readonly kind: 'chat' | 'thread';
  readonly name: string;
}

export interface NamedContext {
  readonly contextId: ContextId;
  /** Whether a task has begun in it. */
  readonly exists: boolean;
}

export async function contextOfName(
  conversation: ClientName,
  { tenant, grant }: Caller,
  contexts: Pick<Contexts, 'tenant'>,
): Promise<NamedContext> {
  const named = conversation.name as ContextId;
  const isNamed = (await contexts.tenant(named)) === tenant;
  const found = isNamed ? named : derived(tenant, conversation);
  if (grant !== undefined && grant.contextId !== found) throw contextNotFound(named);
  const owner = isNamed ? tenant : await contexts.tenant(found);
  // Only an imported log can hold it for another tenant.
  if (owner !== null && owner !== tenant) throw contextNotFound(named);
  return { contextId: found, exists: owner !== null };
}

const derived = (tenant: string, { kind, name }: ClientName): ContextId =>
  contextId(`${kind}-${hash('sha256', JSON.stringify([tenant, name]), 'hex').slice(0, DERIVED)}`);
