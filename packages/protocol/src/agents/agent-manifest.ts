/** AgentManifest: an agent in a pack, and the AgentRef under which it acts. */
import { z } from 'zod';
import { jsonObject, share, text } from '../fields.ts';
import type { AgentRef, modelClasses } from './agent-ref.ts';

/** The model classes of manifests. AgentRefs and `agents.modelClasses` speak of others: see `modelClassOf`. */
export const manifestModelClasses = [
  'reasoning',
  'writing',
  'coding',
  'research',
  'classification',
  'general',
] as const;

export type ManifestModelClass = (typeof manifestModelClasses)[number];

/** `<tier>.<org>.<pack>.<agent>`, in lower case but for the ends. `host:` ids are the host's own and no manifest's. */
const manifestAgentId = z
  .string()
  .min(3)
  .max(256)
  .regex(
    /^(core|vendor|community|private|local)\.[a-z][a-z0-9_-]*(\.[a-z][a-zA-Z0-9_-]*)+$/,
    'must be <tier>.<org>.<pack>.<agent>, where the tier is core, vendor, community, private or local',
  );

const promptName = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,127}$/);
const semver = String.raw`\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?`;

/** A prompt of a library: `prompt:<id>[@<version>]`, or an object that says more. */
const promptRef = z.union([
  z.string().regex(new RegExp(`^prompt:[a-z0-9][a-z0-9._-]{0,127}(@${semver})?$`)),
  z.strictObject({
    libraryId: promptName.optional(),
    templateId: promptName,
    version: z
      .string()
      .regex(new RegExp(`^${semver}$`))
      .optional(),
    variableOverrides: jsonObject.optional(),
  }),
]);

/** Which memory an agent reads and writes. */
export const memoryShape = z.strictObject({
  scratchpad: z.boolean().optional(),
  conversation: z.boolean().optional(),
  longTerm: z.boolean().optional(),
});

/** One entry of `agents[]` in `pack.json` (closed). */
export const agentManifest = z
  .strictObject({
    agentId: manifestAgentId,
    persona: z.string().min(1).max(200),
    modelClass: z.enum(manifestModelClasses),
    label: z.string().min(1).max(100).optional(),
    description: z.string().max(500).optional(),
    systemPrompt: text.optional(),
    /** A file of the pack. */
    systemPromptRef: text.optional(),
    /** `<scope>:<tool>`; left out means no tools. */
    toolAllowlist: z.array(text).optional(),
    requiresCapabilities: z
      .array(text)
      .refine((keys) => new Set(keys).size === keys.length, { message: 'must not name a capability twice' })
      .optional(),
    memoryShape: memoryShape.optional(),
    confidence: z.strictObject({ defaultThreshold: share.optional() }).optional(),
    /** Files of the pack that hold JSON Schemas. */
    handoff: z.strictObject({ taskSchemaRef: text.optional(), returnSchemaRef: text.optional() }).optional(),
    evalSuiteRef: text.optional(),
    promptLibraryRef: promptName.optional(),
    promptOverrides: z
      .strictObject({
        system: promptRef.optional(),
        user: promptRef.optional(),
        'few-shot': promptRef.optional(),
        'schema-hint': promptRef.optional(),
      })
      .optional(),
  })
  .refine((agent) => (agent.systemPrompt === undefined) !== (agent.systemPromptRef === undefined), {
    message: 'must have either systemPrompt or systemPromptRef, and not both',
  })
  .meta({ id: 'AgentManifest' });

export type AgentManifest = z.infer<typeof agentManifest>;

const mapped: Readonly<Record<ManifestModelClass, (typeof modelClasses)[number]>> = {
  reasoning: 'reasoning',
  writing: 'chat',
  coding: 'code',
  research: 'retrieval',
  classification: 'classification',
  general: 'chat',
};

/** The model class of an AgentRef for that of a manifest. */
export const modelClassOf = (manifest: ManifestModelClass): (typeof modelClasses)[number] => mapped[manifest];

/** The AgentRef of a pack's agent. */
export const agentRefOf = (manifest: AgentManifest, packVersion: string): AgentRef => ({
  agentId: manifest.agentId,
  name: manifest.persona,
  modelClass: modelClassOf(manifest.modelClass),
  version: packVersion,
  sourceManifestId: manifest.agentId,
});
