import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.apache.lucene.analysis.Analyzer;
import org.opensearch.analysis.common.CommonAnalysisPlugin;
import org.opensearch.common.logging.LogConfigurator;
import org.opensearch.common.settings.Settings;
import org.opensearch.env.Environment;
import org.opensearch.geo.GeoModulePlugin;
import org.opensearch.index.analysis.AnalyzerProvider;
import org.opensearch.index.analysis.PreBuiltAnalyzerProviderFactory;
import org.opensearch.index.analysis.PreConfiguredTokenizer;
import org.opensearch.index.analysis.TokenizerFactory;
import org.opensearch.index.mapper.MapperExtrasPlugin;
import org.opensearch.index.rankeval.RankEvalPlugin;
import org.opensearch.index.reindex.ReindexPlugin;
import org.opensearch.indices.analysis.AnalysisModule.AnalysisProvider;
import org.opensearch.ingest.common.IngestCommonPlugin;
import org.opensearch.join.ParentJoinPlugin;
import org.opensearch.knn.plugin.KNNPlugin;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;
import org.opensearch.painless.PainlessPlugin;
import org.opensearch.percolator.PercolatorPlugin;
import org.opensearch.plugins.Plugin;
import org.opensearch.script.expression.ExpressionPlugin;
import org.opensearch.script.mustache.MustachePlugin;
import org.opensearch.search.aggregations.matrix.MatrixAggregationPlugin;
import org.opensearch.transport.Netty4Plugin;

/**
 * One OpenSearch node with k-NN, made of jars on the class path.
 *
 * <p>The distribution's launcher is not used: it wants an installation folder, refuses to run as
 * root and checks kernel limits, none of which matters to a node that listens on loopback only.
 *
 * <p>Arguments: the node's home folder, the folder of log4j2.properties, then settings as {@code
 * name=value}. The node runs until it gets SIGTERM.
 */
public final class LocalNode extends Node {

    private static final Collection<Class<? extends Plugin>> PLUGINS =
            List.of(
                    Netty4Plugin.class,
                    AnalysisWithoutThai.class,
                    PainlessPlugin.class,
                    ExpressionPlugin.class,
                    MustachePlugin.class,
                    MapperExtrasPlugin.class,
                    ReindexPlugin.class,
                    IngestCommonPlugin.class,
                    ParentJoinPlugin.class,
                    PercolatorPlugin.class,
                    RankEvalPlugin.class,
                    GeoModulePlugin.class,
                    MatrixAggregationPlugin.class,
                    KNNPlugin.class);

    private LocalNode(Environment environment) {
        super(environment, PLUGINS, true);
    }

    public static void main(String[] arguments) throws Exception {
        LogConfigurator.registerErrorListener();
        Path home = Path.of(arguments[0]).toAbsolutePath();
        Path config = Path.of(arguments[1]).toAbsolutePath();
        Map<String, String> properties = new HashMap<>();
        for (int i = 2; i < arguments.length; i++) {
            String[] setting = arguments[i].split("=", 2);
            properties.put(setting[0], setting[1]);
        }
        Settings base = Settings.builder().put("path.home", home).build();
        Environment environment =
                InternalSettingsPreparer.prepareEnvironment(base, properties, config, () -> "local");
        LogConfigurator.configure(environment);

        LocalNode node = new LocalNode(environment);
        CountDownLatch closed = new CountDownLatch(1);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> close(node, closed), "close-node"));
        node.start();
        closed.await();
    }

    private static void close(LocalNode node, CountDownLatch closed) {
        try {
            node.close();
        } catch (Exception error) {
            error.printStackTrace();
        } finally {
            closed.countDown();
        }
    }

    /**
     * The common analysis module less everything Thai.
     *
     * <p>A small JRE has no data to break Thai words, the Thai analyzer then throws when it is
     * built, and OpenSearch builds all of them whenever an index is created.
     */
    public static final class AnalysisWithoutThai extends CommonAnalysisPlugin {
        private static final String THAI = "thai";

        @Override
        public Map<String, AnalysisProvider<AnalyzerProvider<? extends Analyzer>>> getAnalyzers() {
            return without(super.getAnalyzers());
        }

        @Override
        public Map<String, AnalysisProvider<TokenizerFactory>> getTokenizers() {
            return without(super.getTokenizers());
        }

        @Override
        public List<PreBuiltAnalyzerProviderFactory> getPreBuiltAnalyzerProviderFactories() {
            var factories = new ArrayList<>(super.getPreBuiltAnalyzerProviderFactories());
            factories.removeIf(factory -> factory.getName().equals(THAI));
            return factories;
        }

        @Override
        public List<PreConfiguredTokenizer> getPreConfiguredTokenizers() {
            var tokenizers = new ArrayList<>(super.getPreConfiguredTokenizers());
            tokenizers.removeIf(tokenizer -> tokenizer.getName().equals(THAI));
            return tokenizers;
        }

        private static <T> Map<String, T> without(Map<String, T> providers) {
            var rest = new HashMap<>(providers);
            rest.remove(THAI);
            return rest;
        }
    }
}
