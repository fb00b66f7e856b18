/** `GET /v1/host/cairn/peers` and `POST /v1/host/cairn/peers/check`: the other hosts that this one knows. */
import { z } from 'zod';
import type { DataOf } from '../data-of.ts';
import { text } from '../fields.ts';

export const peerList = z
  .object({
    /** The id of this host. */
    hostId: text,
    peers: z.array(
      z.object({
        hostId: text,
        url: text,
        /** Whether its answers count where a person must decide. */
        answersForUsers: z.boolean(),
        /** Whether a key belongs to it, so that it may start runs here and name their causes. */
        hasKey: z.boolean(),
        /** The tools and agents of it that this host may call, e.g. `mcp:beta` and `a2a:beta`. */
        calls: z.array(text),
      }),
    ),
  })
  .meta({ id: 'PeerList' });

/** Closed. */
export const checkPeer = z
  .strictObject({
    hostId: text.max(256).describe('A peer of the configuration. No other address is called.'),
    key: z
      .string()
      .min(1)
      .max(8_192)
      .optional()
      .describe(
        'Your own key at the peer. It is used for this check alone. Without it, only what everybody sees is checked.',
      ),
    workflow: text
      .max(256)
      .optional()
      .describe('A workflow of the peer that the check may start, to see whether the peer records its cause.'),
  })
  .meta({ id: 'CheckPeer' });

export const peerChecked = z
  .object({
    hostId: text,
    url: text,
    findings: z.array(
      z.object({
        subject: text,
        /** `bad` prevents the hosts from working together; `doubtful` deserves attention. */
        state: z.enum(['good', 'doubtful', 'bad']),
        text,
        /** What to do about it. */
        hint: z.string().optional(),
      }),
    ),
  })
  .meta({ id: 'PeerChecked' });

export type PeerList = DataOf<typeof peerList>;
export type CheckPeer = DataOf<typeof checkPeer>;
export type PeerChecked = DataOf<typeof peerChecked>;
