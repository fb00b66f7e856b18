/** A link to the documentation that the host serves. It opens beside Studio, which keeps its place. */
import type { ReactNode } from 'react';

interface DocsLinkProps {
  /** The page, without its ending; left out for the first one. */
  readonly page?: string;
  readonly className?: string;
  readonly children: ReactNode;
}

export const DocsLink = ({ page = '', className, children }: DocsLinkProps) => (
  <a href={`/docs/${page}`} target="_blank" rel="noreferrer" className={className}>
    {children}
  </a>
);
