/**
 * The context of a chat. A page makes up the id of its chat, so that two tenants may use the same one: the context has an
 * id that follows from both the tenant and the chat. The id of a context of the tenant names that context itself.
 */
import { hash } from 'node:crypto';
import { type ContextId, contextId } from '@cairn/protocol';
import { contextNotFound } from '../../engine/stepping/run-loader.ts';
import type { EventLog } from '../../log/ports/event-log.ts';
import type { Caller } from '../access/auth.ts';

/** Hex digits: 128 bits. */
const DERIVED = 32;

export interface ChatContext {
  readonly contextId: ContextId;
  /** Whether a task has begun in it. */
  readonly exists: boolean;
}

export async function contextOfChat(
  chatId: string,
  { tenant, grant }: Caller,
  log: Pick<EventLog, 'contextTenant'>,
): Promise<ChatContext> {
  const named = chatId as ContextId;
  const isNamed = (await log.contextTenant(named)) === tenant;
  const found = isNamed ? named : derived(tenant, chatId);
  if (grant !== undefined && grant.contextId !== found) throw contextNotFound(named);
  const owner = isNamed ? tenant : await log.contextTenant(found);
  // Only an imported log can hold it for another tenant.
  if (owner !== null && owner !== tenant) throw contextNotFound(named);
  return { contextId: found, exists: owner !== null };
}

const derived = (tenant: string, chatId: string): ContextId =>
  contextId(`chat-${hash('sha256', JSON.stringify([tenant, chatId]), 'hex').slice(0, DERIVED)}`);
