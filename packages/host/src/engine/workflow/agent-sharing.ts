/** Conversation sharing of a node: isolated, shared with the other nodes of its run, or shared with a group. */
import type { Json } from '@cairn/protocol';
import { z } from 'zod';

const wellFormed = /^(isolated|shared|shared:[A-Za-z0-9][A-Za-z0-9._-]{0,127})$/;
const problem =
  'must be isolated, shared, or shared:<group> with up to 128 letters, digits, ".", "_" and "-"; left out, it is isolated';

/** A setting of nodes, and of channels that hold the messages of a group. */
export const agentSharing = z.string(problem).regex(wellFormed, problem);

/** The group of `shared:<group>`; null for the other settings. */
export const groupIdOf = (sharing: Json | undefined): string | null =>
  typeof sharing === 'string' && sharing.startsWith('shared:') ? sharing.slice('shared:'.length) : null;
