# lineproof with Spark, its JARs and Java. `docker compose up` runs a broker and the job.
FROM python:3.11.14-slim-bookworm

ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore PYTHONUNBUFFERED=1

# Spark's start scripts call ps.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends openjdk-17-jre-headless procps \
    && rm -rf /var/lib/apt/lists/*

# PySpark is most of the image: its own layer means it is not downloaded again when only our code changes.
COPY conf/requirements.lock /build/
RUN pip install --constraint /build/requirements.lock setuptools \
    && pip install --constraint /build/requirements.lock --no-build-isolation pyspark

COPY . /build/lineproof
RUN pip install --constraint /build/requirements.lock --no-build-isolation "/build/lineproof[streaming,server]" \
    && lineproof jars \
    && rm -rf /build

RUN useradd --create-home lineproof && install --directory --owner=lineproof --group=lineproof /data
USER lineproof
WORKDIR /data
ENV LINEPROOF_HOME=/data

ENTRYPOINT ["lineproof"]
CMD ["--help"]
