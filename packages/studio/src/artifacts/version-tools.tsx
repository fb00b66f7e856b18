/** Chooses the version that is shown, and the one that it is compared with. */
import type { VersionSearch } from './versions.ts';

interface VersionToolsProps {
  /** The current version; 0 while there is none. */
  readonly last: number;
  readonly shown: number | null;
  readonly against: number | null;
  readonly go: (search: VersionSearch) => void;
}

/** Older versions are reached by their address. */
const LISTED = 50;

export function VersionTools({ last, shown, against, go }: VersionToolsProps) {
  const versions = Array.from({ length: Math.min(last, LISTED) }, (_, at) => last - at);
  return (
    <div className="artifact-tools">
      <label>
        <span className="label">Version</span>
        <select
          className="input"
          aria-label="Version"
          value={shown ?? ''}
          disabled={last === 0}
          onChange={({ target }) => go({ version: Number(target.value) })}
        >
          {shown !== null && !versions.includes(shown) && <option value={shown}>{shown}</option>}
          {versions.map((version) => (
            <option key={version} value={version}>
              {version === last ? `version ${version}, current` : `version ${version}`}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span className="label">Compare with</span>
        <select
          className="input"
          aria-label="Compare with"
          value={against ?? ''}
          disabled={last < 2}
          onChange={({ target }) =>
            go({
              ...(shown !== null && { version: shown }),
              ...(target.value !== '' && { against: Number(target.value) }),
            })
          }
        >
          <option value="">none</option>
          {versions
            .filter((version) => version !== shown)
            .map((version) => (
              <option key={version} value={version}>
                version {version}
              </option>
            ))}
        </select>
      </label>
      <span className="label hint">
        <kbd className="key">[</kbd> <kbd className="key">]</kbd> versions, <kbd className="key">d</kbd> compare
      </span>
    </div>
  );
}
