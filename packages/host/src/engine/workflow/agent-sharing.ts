/** Who shares the conversation of a node: nobody, the other nodes of its run, or a group. */
import type { Json } from '@cairn/protocol';
import { z } from 'zod';

const wellFormed = /^(isolated|shared|shared:[A-Za-z0-9][A-Za-z0-9._-]{0,127})$/;
const problem =
  'must be isolated, shared, or shared:<group> with up to 128 letters, digits, ".", "_" and "-"; left out, it is isolated';

/** Said of a node, and of a channel that holds what a group says. */
export const agentSharing = z.string(problem).regex(wellFormed, problem);

/** The group of `shared:<group>`; null for the other settings. */
export const groupIdOf = (sharing: Json | undefined): string | null =>
  typeof sharing === 'string' && sharing.startsWith('shared:') ? sharing.slice('shared:'.length) : null;
