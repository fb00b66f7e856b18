/**
 * The ids that agents of other systems have in runs. The identifier of the other system is never the id itself: it is
 * hashed, or percent-encoded part by part, so that no name can look like another agent's.
 */
import { hash } from 'node:crypto';
import { quoted, TerminalError } from '@cairn/protocol';

/** The longest id of an agent on the wire. */
const MAX_LENGTH = 256;

/** `host:did:<SHA-256 of the DID>`. The DID itself belongs in the metadata of the run. */
export const didAgentId = (did: string): string => `host:did:${hash('sha256', did, 'hex')}`;

/** `host:a2a:<host>:<name>`, where `url` is the address of the card or the peer. A port that is not the default is `_<port>`. */
export function a2aAgentId(url: string, name: string): string {
  const { hostname, port } = new URL(url);
  return fitting(`host:a2a:${part(hostname)}${port === '' ? '' : `_${port}`}:${part(name)}`, name);
}

/** `host:agntcy:<gateway>:<agent>`. */
export const agntcyAgentId = (gatewayId: string, agentId: string): string =>
  fitting(`host:agntcy:${part(gatewayId)}:${part(agentId)}`, agentId);

/** Also encodes `_`, which separates the port. A half of a surrogate pair has no encoding, so it is replaced. */
const part = (text: string): string => encodeURIComponent(text.toWellFormed()).replaceAll('_', '%5F');

/** A cut id could be that of another agent, so a long one is refused. */
function fitting(agentId: string, name: string): string {
  if (agentId.length <= MAX_LENGTH) return agentId;
  throw new TerminalError('validation_error', {
    message: `The agent ${quoted(name, 60)} has no id here: it would have ${agentId.length} characters, and ${MAX_LENGTH} are the most.`,
    hint: 'Give the agent a shorter name on its own host.',
  });
}
