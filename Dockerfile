# The worker, the gateway and the command line in one image: `docker run ibidem COMMAND`.
FROM python:3.13.7-slim
WORKDIR /ibidem
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY ingest ingest
COPY mappings mappings
COPY plugins plugins
COPY workers workers
RUN pip install --no-cache-dir ".[fast,gateway,readers,redis]" \
    && useradd --create-home ibidem \
    && install -d -o ibidem /data /data/tables
USER ibidem
WORKDIR /data
ENTRYPOINT ["ibidem"]
CMD ["--help"]
