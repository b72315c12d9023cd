# The worker, the gateway and the command line in one image, out of the wheel: `docker run ibidem COMMAND`.
FROM python:3.13.7-slim AS build
# A compiler, which stays behind in this stage.
# hadolint ignore=DL3008
RUN apt-get update && apt-get install --yes --no-install-recommends gcc libc6-dev
WORKDIR /ibidem
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY ingest ingest
COPY mappings mappings
COPY plugins plugins
COPY workers workers
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.13.7-slim
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="ibidem" \
      org.opencontainers.image.description="Duplicate detection for Elasticsearch and OpenSearch" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.licenses="Apache-2.0"
# The wheel names the versions that it takes.
# hadolint ignore=DL3013
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    set -e; for wheel in /wheels/*.whl; do pip install --no-cache-dir "${wheel}[fast,gateway,readers,redis]"; done \
    && useradd --uid 10042 --create-home ibidem \
    && install -d -o ibidem /data /data/tables
COPY --chmod=755 workers/healthy.py /usr/local/bin/ibidem-healthy
USER 10042
WORKDIR /data
HEALTHCHECK --interval=10s --timeout=10s --start-period=30s --retries=6 CMD ["ibidem-healthy"]
ENTRYPOINT ["ibidem"]
CMD ["--help"]
